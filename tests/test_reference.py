"""The reference is complete: whatever is public has its place in docs/reference."""

import functools
import importlib
import re
from pathlib import Path
from types import ModuleType

import thetatree as tt

PAGES = sorted((Path(__file__).parents[1] / "docs" / "reference").glob("*.md"))


def resolve(dotted):
    """Import as much as is a module, and look the rest up."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[n:], module)
    raise AssertionError(f"{dotted} is not there")


def public():
    """What can be reached as thetatree.name or thetatree.namespace.name."""
    for name in tt.__all__:
        value = getattr(tt, name)
        if not isinstance(value, ModuleType):
            if not isinstance(value, str):
                yield f"thetatree.{name}", value
        elif callable(value):  # thetatree.sketch builds
            yield f"thetatree.{name}", importlib.import_module("thetatree.sketch.build").sketch
        else:
            names = getattr(value, "__all__", ("impurity", "score", "partitions"))
            for inner in names:
                if not isinstance(getattr(value, inner), ModuleType):
                    yield f"thetatree.{name}.{inner}", getattr(value, inner)


def test_everything_public_is_in_the_reference():
    listed = [
        resolve(dotted)
        for page in PAGES
        for dotted in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)
    ]
    lacking = [name for name, value in public() if not any(value is one for one in listed)]
    assert not lacking, f"add '::: where.it.is.defined' to a page of docs/reference for {lacking}"
