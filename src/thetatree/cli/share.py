"""Commands that show to others what a model is: demo."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    customers: Annotated[int, typer.Option(help="How many customers to make.")] = 1_000_000,
) -> None:
    """Make customers in three tables, sketch each alone, grow a tree, and judge it beside the exact one."""
    from thetatree.demo import main

    main(customers)
