"""What is mutated, in which group, and the copy of the package that has all mutants in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import board
import python

import kernel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "mutants"
PYTHON = WORK / "venv" / "bin" / "python"

GROUPS = {
    "criteria": """criteria.h special.cpp special.h significance.cpp significance.h absolute.cpp absolute.h
        ordering.cpp gate.h worth.h split/criteria.py""",
    "search": """search.h binned_search.h screen.h feature_search.cpp feature_search.h search_c45.cpp
        search_c45.h groups_c45.cpp groups_c45.h value_order.cpp value_order.h byte_tally.cpp byte_tally.h
        tally.cpp tally.h worker.cpp worker.h grow.cpp grow_c45.cpp cases.cpp cases.h bins.cpp bins.h rank.cpp
        rank.h""",
    "pruning": """prune.cpp prune_c45.cpp error_limits.cpp learn/pruning.py tree/prune.py tree/cp_table.py
        tree/held_out.py tree/pessimistic.py tree/error_limits.py""",
    "counting": """count_sketch.cpp count_sketch.h sketch_index.cpp sketch_index.h sketch_node.cpp
        sketch_node.h sketch_decide.cpp sketch_sums.cpp sketch_sums.h sieve.cpp sieve.h conserve.h
        grow_sketch.cpp grow_sketch.h row_table.h theta_set.cpp theta_set.h hash_sort.h grow/count_tree.py
        tree/estimates.py sketch/counts.py judge/counts.py judge/leaf_counts.py judge/confidence.py
        judge/proportions.py""",
}


@dataclass
class Planned:
    """A mutant with its number and group; `key` is what it is known by when numbers and lines have moved."""

    number: int
    group: str
    file: str
    line: int
    source: str
    change: str

    @property
    def key(self) -> str:
        """Name the mutant by file, line of code and change."""
        return f"{self.file} | {self.source} | {self.change}"


def of_group(group: str, suffix: tuple[str, ...]) -> list[str]:
    """Give the files of a group with these endings."""
    return [name for name in GROUPS[group].split() if name.endswith(suffix)]


def prepare() -> list[Planned]:
    """Find the mutants, write a copy that has all of them in it, and install it."""
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("kernel", "src"):
        shutil.copytree(ROOT / name, source / name)
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for name in ("mutant.h", "mutant.cpp"):
        shutil.copy(HERE / name, source / "kernel" / name)
    group_of = {name: group for group in GROUPS for name in of_group(group, (".h", ".cpp", ".py"))}
    found = kernel.find(ROOT / "kernel", [name for name in group_of if not name.endswith(".py")])
    numbered = _that_compile(source / "kernel", list(enumerate(found)))
    out = [Planned(n, group_of[m.file], m.file, m.line, m.source, m.change) for n, m in numbered]
    number = len(found)
    package = source / "src" / "thetatree"
    shutil.copy(HERE / "board.py", package / "_mutants.py")
    for name in (name for name in group_of if name.endswith(".py")):
        text = (package / name).read_text()
        mutants = python.find(name, text)
        places = {mutant.place: number + mutant.place for mutant in mutants}
        out += [Planned(places[m.place], group_of[name], name, m.line, m.source, m.change) for m in mutants]
        (package / name).write_text(python.rewrite(name, text, places))
        number += len(mutants)
    if number > board.MOST:
        raise SystemExit(f"{number} mutants do not fit on the board: enlarge it in board.py and mutant.h")
    _tell_apart(out)
    print(f"{len(out)} mutants; {len(found) - len(numbered)} more would not compile", flush=True)
    _install(source)
    (WORK / "mutants.json").write_text(json.dumps([vars(mutant) for mutant in out], indent=0))
    return out


def _tell_apart(mutants: list[Planned]) -> None:
    """Number what is alike: the same change in the same line of code."""
    seen: Counter[str] = Counter()
    for mutant in mutants:
        seen[mutant.key] += 1
        if (nth := seen[mutant.key]) > 1:
            mutant.change += f" (no. {nth})"


def _that_compile(folder: Path, numbered: list[tuple[int, kernel.Mutant]]) -> list[tuple[int, kernel.Mutant]]:
    """Rewrite the kernel with those mutants that compile: a line with an error has its mutants taken out."""
    files = sorted(path.name for path in folder.glob("*.cpp") if not path.name.startswith("bind"))
    while files:
        for name in {mutant.file for _, mutant in numbered}:
            shutil.copy(ROOT / "kernel" / name, folder / name)
        kernel.rewrite(folder, numbered)
        with ThreadPoolExecutor(2) as pool:
            errors = dict(zip(files, pool.map(lambda name: _errors(folder, name), files), strict=True))
        files = [name for name in files if errors[name]]
        wrong = set().union(*errors.values())
        kept = [(n, mutant) for n, mutant in numbered if (mutant.file, mutant.line) not in wrong]
        if files and len(kept) == len(numbered):
            raise SystemExit(f"{files} do not compile, and no mutant is to blame: {sorted(wrong)[:5]}")
        numbered = kept
    return numbered


def _errors(folder: Path, name: str) -> set[tuple[str, int]]:
    """Give the lines of the kernel that the compiler names in an error."""
    command = ["c++", "-std=c++20", "-fsyntax-only", "-w", "-fmax-errors=0", "-fdiagnostics-color=never"]
    command += ["-include", str(folder / "mutant.h"), str(folder / name)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return set()
    out = set()
    for line in result.stderr.splitlines():
        place = re.match(r"(\S+?):(\d+):\d+:\s+(?:fatal )?(error|required)", line)
        if place and Path(place[1]).name not in ("mutant.h", "mutant.cpp"):
            out.add((Path(place[1]).name, int(place[2])))
    return out


def _install(source: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", WORK / "venv"], check=True)
    told = subprocess.run(
        [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    site = Path(told.stdout.strip())
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.rmtree(site / "thetatree", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-build-isolation", "--no-deps", "--upgrade", "--target", str(site)]
    command += ["--config-settings=cmake.define.THETATREE_OPTIMIZE=-O1"]
    command += [
        f"--config-settings=cmake.define.CMAKE_CXX_FLAGS=-w -include {source / 'kernel' / 'mutant.h'}"
    ]
    command += [f"--config-settings=build-dir={WORK / 'cmake'}", str(source)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})


def read() -> list[Planned]:
    """Read what was prepared."""
    return [Planned(**fields) for fields in json.loads((WORK / "mutants.json").read_text())]
