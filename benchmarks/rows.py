"""Trees from rows, side by side with peers: `python benchmarks/rows.py [--quick] [--cases ...] [--repeat 5]`.

Each measurement runs in a fresh process and the libraries take turns, so that no one is favoured by a warm
cache or by another's load. A table goes to the terminal and to benchmarks/results/rows.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cases import CASES, make_data
from peers import MODULES, OURS, PREDICT_ONLY
from report import HEADER, TARGET_HEADER, Figures, Outcome, as_markdown, as_text, machine, rows_of, targets_of

HERE = Path(__file__).resolve().parent
QUICK = 0.02  # share of the rows in a quick run
SLOW = 10.0  # seconds; what takes longer is measured once


class _FailedError(RuntimeError):
    """A measurement that ended without a figure; its text is the last thing the process said."""


def _one(library: str, name: str, folder: Path, n_threads: int) -> dict[str, Any]:
    """Measure once, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
    command = [sys.executable, str(HERE / "measure.py"), library, name, str(folder), str(n_threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise _FailedError(said[-1][:200])
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def _take_turns(everyone: list[Figures], name: str, folder: Path, repeat: int, n_threads: int) -> None:
    """Measure everyone who is there, once a round; each round begins with another library."""
    for turn in range(repeat):
        shift = turn % len(everyone)
        for figures in everyone[shift:] + everyone[:shift]:
            slow = figures.runs and figures.runs[0]["seconds"] > SLOW
            if figures.note or slow:
                continue
            try:
                figures.runs.append(_one(figures.library, name, folder, n_threads))
            except _FailedError as failure:
                figures.note = f"FAILED: {failure}"
            seconds = f"{figures.runs[-1]['seconds']:.4g} s" if not figures.note else figures.note
            print(f"  {name}, round {turn + 1}: {figures.library} {seconds}", file=sys.stderr, flush=True)


def run_case(name: str, libraries: list[str], repeat: int, n_threads: int, scale: float) -> Outcome:
    """Make the data of one case and measure these libraries on it."""
    case = CASES[name]
    can = [library for library in libraries if case.measured == "predict" or library not in PREDICT_ONLY]
    everyone = [
        Figures(library) for library in can if library == OURS or not case.only or library in case.only
    ]
    for figures in everyone:
        if importlib.util.find_spec(MODULES[figures.library]) is None:
            figures.note = f"SKIPPED: {MODULES[figures.library]} is not installed"
        elif figures.library in case.without:
            figures.note = f"SKIPPED: {case.without[figures.library]}"
    with tempfile.TemporaryDirectory(prefix="thetatree-bench-") as folder:
        make_data(case, scale, Path(folder))
        _take_turns(everyone, name, Path(folder), repeat, n_threads)
    return Outcome(case, everyone)


def _together(measured: list[Outcome], file: Path | None) -> list[Outcome]:
    """Add the cases of earlier runs that are kept in a file, in the usual order, and keep these there."""
    if file is None:
        return measured
    kept = json.loads(file.read_text()) if file.exists() else {}
    by_case = {outcome.case.title: outcome for outcome in measured}
    for name, case in CASES.items():
        if case.title in by_case:
            kept[name] = [vars(figures) for figures in by_case[case.title].figures]
    file.write_text(json.dumps(kept))
    return [Outcome(case, [Figures(**f) for f in kept[name]]) for name, case in CASES.items() if name in kept]


def _arguments() -> argparse.Namespace:
    usual = [name for name, case in CASES.items() if not case.opt_in]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:g} of the rows, two rounds")
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=[*CASES, "all"],
        default=usual,
        metavar="CASE",
        help=f"any of {', '.join(CASES)}, or all;\nby default all but {', '.join(set(CASES) - set(usual))}",
    )
    parser.add_argument(
        "--libraries", nargs="+", choices=list(MODULES), default=list(MODULES), metavar="LIBRARY"
    )
    parser.add_argument("--repeat", type=int, help="rounds; 5 by default, 2 with --quick")
    parser.add_argument("--threads", type=int, default=2, help="threads for those that use them; default 2")
    parser.add_argument("--out", type=Path, help="the Markdown file; default benchmarks/results/rows.md")
    parser.add_argument(
        "--keep", type=Path, help="a JSON file of figures: the cases of earlier runs are added"
    )
    return parser.parse_args()


def main() -> int:
    """Measure, print and write; 1 if any measurement failed."""
    arguments = _arguments()
    scale = QUICK if arguments.quick else 1.0
    repeat = arguments.repeat or (2 if arguments.quick else 5)
    names = list(CASES) if "all" in arguments.cases else list(dict.fromkeys(arguments.cases))
    measured = [run_case(name, arguments.libraries, repeat, arguments.threads, scale) for name in names]
    outcomes = _together(measured, arguments.keep)
    print("\n".join(machine(arguments.threads)) + "\n")
    if scale != 1:
        print(f"A quick run: the large cases have {scale:g} of their rows. Not for quoting.\n")
    print(as_text(HEADER, [row for outcome in outcomes for row in rows_of(outcome)]))
    print("\n" + as_text(TARGET_HEADER, [row for outcome in outcomes for row in targets_of(outcome)]))
    out = arguments.out or HERE / "results" / ("rows-quick.md" if arguments.quick else "rows.md")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(as_markdown(outcomes, repeat, arguments.threads, scale), encoding="utf-8")
    print(f"\n{out}")
    return int(any(f.note.startswith("FAILED") for outcome in outcomes for f in outcome.figures))


if __name__ == "__main__":
    sys.exit(main())
