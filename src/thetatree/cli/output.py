"""What a command says: text for people, or one JSON value with --json."""

from __future__ import annotations

import json
import math
import sys
from typing import Annotated, Any

import numpy as np
import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def say(text: str, value: Any, *, as_json: bool) -> None:
    """Print the text, or the value as JSON."""
    typer.echo(json.dumps(plain(value), ensure_ascii=False, allow_nan=False) if as_json else text)


def note(text: str) -> None:
    """Say something aside, on standard error."""
    print(text, file=sys.stderr)


def plain(value: Any) -> Any:
    """Turn numpy and pandas values into what JSON has; what is no number becomes null."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return plain(value.to_dict(orient="records"))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
