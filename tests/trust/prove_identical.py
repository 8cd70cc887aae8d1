"""The same bytes everywhere: threads, row orders, partitions, merges, Pythons, instruction sets.

    python prove_identical.py [ROWS]

Runs fingerprints.py in this Python, in every other one from 3.11 that is found (installed with its packages
into build/identical), and on kernels held to plain and to AVX2 instructions; this machine's own has what it
has. Prints what was compared, and fails if anything differs.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "identical"
SCRIPT = Path(__file__).with_name("fingerprints.py")
INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade")
LEVELS = {"plain instructions": 1, "AVX2": 3}


def run(*command, **kwargs) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **kwargs)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def held_to(level: int) -> Path:
    """This Python with a kernel of its own; it sees the other packages, but not the editable thetatree."""
    place = WORK / f"level-{level}"
    run(sys.executable, "-m", "venv", "--without-pip", place)
    python = place / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    shutil.rmtree(site / "thetatree", ignore_errors=True)
    options = [f"--config-settings=cmake.define.THETATREE_ISA={level}"]
    options.append(f"--config-settings=build-dir={place / 'cmake'}")
    run(sys.executable, *INSTALL, "--no-build-isolation", "--no-deps", "--target", site, *options, ROOT)
    return python


def other_pythons() -> dict[str, str]:
    """Pythons by minor version, this one left out."""
    # pyenv's own come first: what it puts on the path runs only where a version has been chosen.
    path = os.pathsep.join([*map(str, Path.home().glob(".pyenv/versions/3.*/bin")), os.environ["PATH"]])
    found = {}
    for minor in range(11, 16):
        python = shutil.which(f"python3.{minor}", path=path)
        if minor != sys.version_info.minor and python:
            tried = subprocess.run([python, "-c", ""], check=False, capture_output=True)
            if tried.returncode == 0:
                found[f"Python 3.{minor}"] = python
    return found


def installed_in(name: str, python: str) -> Path:
    place = WORK / name.lower().replace(" ", "-")
    if not (place / "bin" / "python").exists():
        run(python, "-m", "venv", place)
    own = place / "bin" / "python"
    run(own, *INSTALL, f"--config-settings=build-dir={place / 'cmake'}", ROOT)
    return own


def fingerprints(python: Path | str, rows: str) -> dict:
    """Run outside the checkout, so that no other thetatree is met."""
    return json.loads(run(python, SCRIPT, rows, cwd=WORK))


def main(rows: str = "30000") -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    here = f"Python 3.{sys.version_info.minor}"
    base = fingerprints(sys.executable, rows)
    ways = sum(len(case["ways"]) for case in base.values())
    print(f"{here}: {len(base)} results of {rows} rows, {ways} ways of making them, all alike", flush=True)
    for name, case in base.items():
        print(f"  {name}: {', '.join(case['ways'])}", flush=True)
    others = {f"{here}, {name}": (lambda level=level: held_to(level)) for name, level in LEVELS.items()}
    others |= {
        name: (lambda n=name, p=python: installed_in(n, p)) for name, python in other_pythons().items()
    }
    differing = 0
    for name, made in others.items():
        found = fingerprints(made(), rows)
        wrong = [case for case in base if found[case]["sha256"] != base[case]["sha256"]]
        print(f"{name}: {len(base) - len(wrong)} of {len(base)} the same bytes {wrong or ''}", flush=True)
        differing += len(wrong)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
