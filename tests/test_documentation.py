"""Every example runs: docstrings of the package, and the Python blocks of README.md and docs/."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import thetatree

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(thetatree.__path__, "thetatree.")
    if not m.name.endswith(("_kernel", ".demo"))
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", ["thetatree", *MODULES])
def test_doctests(name):
    results = doctest.testmod(importlib.import_module(name), verbose=False)
    assert results.failed == 0


def test_there_are_doctests():
    finder = doctest.DocTestFinder()
    found = sum(bool(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    assert found >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_python_blocks(page, tmp_path, monkeypatch, capsys):
    """The blocks of one page run in order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__page__"}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        if block.lstrip().startswith(">>>"):
            parsed = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
            assert doctest.DocTestRunner().run(parsed, clear_globs=False).failed == 0
            names.update(parsed.globs)
        else:
            exec(compile(block, f"{page.name} block", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            there = page.parent / target  # a notebook is a page of the site, too
            assert there.exists() or there.with_suffix(".ipynb").exists(), f"{page.name}: {target}"
