"""Every command of README and docs runs, and prints what is written there.

In a console block a line that begins with "$ " is a command; what follows is what it prints, errors included.
A line of "..." stands for any lines. THETATREE_WRITE_GOLDEN=1 writes what is printed into the page.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8"))
]


def commands(page):
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            yield command, expected


def matches(expected, printed):
    pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*?")
    return re.fullmatch(pattern, printed) is not None


def written(page, command, expected, printed):
    """Put what is printed where the page says otherwise."""
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(f"$ {command}\n{expected}", f"$ {command}\n{printed}"), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_commands(page, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, expected in list(commands(page)):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if os.environ.get("THETATREE_WRITE_GOLDEN") and not matches(expected, done.stdout):
            written(page, command, expected, done.stdout)
            continue
        assert matches(expected, done.stdout), f"$ {command}\n{done.stdout}"
