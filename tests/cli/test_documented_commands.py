"""Every command of README and docs runs, and prints what is written there.

In a console block a line that begins with "$ " is a command; what follows is what it prints, errors included.
A line of "..." stands for any lines. THETATREE_WRITE_GOLDEN=1 writes what is printed into the page.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from thetatree.cli.app import main

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


@pytest.fixture
def printed(tmp_path, monkeypatch, capfd):
    """Run a command line; one that needs no shell runs in this process, which is sooner ready."""
    monkeypatch.chdir(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(command):
        capfd.readouterr()
        if re.fullmatch(r"thetatree [^|<>$;&]*", command):
            main(shlex.split(command)[1:])
        else:
            subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": path}, check=False)
        out, err = capfd.readouterr()
        return out + err

    return run


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_commands(page, printed):
    for command, expected in list(commands(page)):
        output = printed(command)
        if os.environ.get("THETATREE_WRITE_GOLDEN") and not matches(expected, output):
            written(page, command, expected, output)
            continue
        assert matches(expected, output), f"$ {command}\n{output}"
