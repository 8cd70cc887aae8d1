"""Defaults from a file: TOML or YAML with one table for each command.

    [fit]
    target = "outcome"
    max-depth = 5
    set = {min_impurity_split = 0.01}

What stands on the command line goes before the file.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from thetatree.cli.names import meant


def read_config(path: Path, group: Any) -> dict[str, dict[str, Any]]:
    """Return the defaults by command and parameter, every name checked against the commands of `group`."""
    document = _read(path)
    if not isinstance(document, dict):
        raise ValueError(f"{path}: expected a table for each command, such as [fit]")
    defaults: dict[str, dict[str, Any]] = {}
    for command, options in document.items():
        if command not in group.commands:
            raise ValueError(f"{path}: there is no command {command!r}{meant(command, group.commands)}")
        if not isinstance(options, dict):
            raise ValueError(f"{path}: [{command}] must be a table of options; got {options!r}")
        known = {name: param for param in group.commands[command].params for name in _spellings(param)}
        defaults[command] = {}
        for name, value in options.items():
            if name not in known:
                raise ValueError(f"{path}: '{command}' has no option {name!r}{meant(name, known)}")
            defaults[command][known[name].name] = _as_given(value, known[name])
    return defaults


def _read(path: Path) -> Any:
    if path.suffix.lower() in (".yaml", ".yml"):
        try:
            import yaml  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError(
                f"{path}: reading YAML needs PyYAML: pip install 'thetatree[yaml]', or write TOML"
            ) from None
        try:
            return yaml.safe_load(path.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise ValueError(f"{path} is not YAML: {error}") from None
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def _spellings(param: Any) -> set[str]:
    """Every way to write an option in a file: without its dashes, or with underscores."""
    plain = {option.lstrip("-") for option in param.opts if option.startswith("--")} | {param.name}
    return plain | {name.replace("-", "_") for name in plain}


def _as_given(value: Any, param: Any) -> Any:
    """Give a value as the command line would: a table as name=value pairs, one value of several as a list."""
    if isinstance(value, dict):
        return [f"{name}={json.dumps(item)}" for name, item in value.items()]
    return [value] if getattr(param, "multiple", False) and not isinstance(value, list) else value
