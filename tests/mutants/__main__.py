"""Mutation testing of criteria, search, pruning and counting.

Usage: python tests/mutants [--each N] [--seconds S] [--budget B] [--files WORDS] [--fresh] [--again]

Takes N mutants of each group (a fixed sample; 0 for all of them), runs those that have no answer yet for at
most S seconds, and says how many were killed. A mutant gets B seconds of the tests that reach it; most are
told in one. `--fresh` builds anew, which a change of what is mutated needs; `--again` asks survivors once
more; `--files` takes only files with one of these words in their name. Everything is in build/mutants.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import plan
from board import Board

FOLDERS = ["grow", "tree", "learn", "split", "judge", "sketch", "naive", "data"]
ANSWERS, COVER, JOB = (plan.WORK / name for name in ("answers.json", "cover.json", "job.json"))
EQUIVALENT = Path(__file__).resolve().parent / "equivalent.toml"


def run_pytest(job: dict[str, Any], *arguments: str) -> list[dict[str, Any]]:
    """Run a job in pytest; give its answers."""
    answers = plan.WORK / "answers.jsonl"
    answers.write_text("")
    JOB.write_text(json.dumps({**job, "answers": str(answers)}))
    board = plan.WORK / "board"
    Board.make(board)
    environment = {
        **os.environ,
        "THETATREE_MUTANTS": str(board),
        "THETATREE_MUTANTS_JOB": str(JOB),
        "PYTHONPATH": str(Path(__file__).resolve().parent),
        "TMPDIR": str(plan.WORK / "tmp"),
    }
    (plan.WORK / "tmp").mkdir(exist_ok=True)
    command = [
        str(plan.PYTHON),
        "-m",
        "pytest",
        "-q",
        "-p",
        "plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    command += [f"--basetemp={plan.WORK / 'pytest'}", *arguments]
    result = subprocess.run(
        command, cwd=plan.ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode not in (0, 5):
        raise SystemExit((result.stdout + result.stderr)[-2000:])
    return [json.loads(line) for line in answers.read_text().splitlines()]


def folders() -> list[str]:
    """Give the tests that look for mutants."""
    return [f"tests/{name}" for name in FOLDERS]


def cover(seconds: float) -> dict[str, dict[str, Any]]:
    """Bring the map of what every test reaches up to date: tests of changed files are asked anew."""
    known = json.loads(COVER.read_text()) if COVER.exists() else {}
    collected = subprocess.run(
        [plan.PYTHON, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *folders()],
        cwd=plan.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tests = [line for line in collected.stdout.splitlines() if "::" in line]
    state = {name: _digest(name) for name in {test.split("::")[0] for test in tests}}
    known = {t: facts for t, facts in known.items() if facts["state"] == state.get(t.split("::")[0])}
    wanted = [test for test in tests if test not in known]
    if wanted:
        for facts in run_pytest({"kind": "cover", "tests": wanted, "seconds": seconds}, *folders()):
            test = facts.pop("test")
            known[test] = {**facts, "state": state[test.split("::")[0]]}
        COVER.write_text(json.dumps(known))
    wrong = [test for test, facts in known.items() if facts["outcome"] == "failed"]
    if wrong:
        raise SystemExit(f"with no mutant active these fail: {wrong[:10]}")
    missing = len(set(tests) - set(known))
    if missing:
        raise SystemExit(f"{missing} tests were not covered yet; run again")
    return {
        test: facts for test, facts in known.items() if test in set(tests) and facts["outcome"] == "passed"
    }


def _digest(name: str) -> str:
    return hashlib.sha256((plan.ROOT / name).read_bytes()).hexdigest()[:16]


def sample(mutants: list[plan.Planned], each: int, words: list[str]) -> list[plan.Planned]:
    """Take so many mutants of each group in turn, by hashes of what they are: code elsewhere changes none."""
    taken = []
    for group in plan.GROUPS:
        some = [m for m in mutants if m.group == group and (not words or any(w in m.file for w in words))]
        some.sort(key=lambda mutant: hashlib.sha256(mutant.key.encode()).digest())
        taken.append(some[: each or None])
    return [mutant for row in zip_longest(*taken) for mutant in row if mutant]


def tests_for(
    mutant: plan.Planned, covered: dict[str, dict[str, Any]], kills: Counter[str], budget: float
) -> list[str]:
    """Give the tests that reach a mutant, those first that tell most in the least time."""
    cost = {
        test: (facts["seconds"] + 0.02) / (1 + kills[test])
        for test, facts in covered.items()
        if mutant.number in facts["reached"]
    }
    before: Counter[str] = Counter()
    for test in sorted(cost, key=cost.__getitem__):
        module = test.split("::")[0]
        before[module] += 1
        cost[test] *= before[module]
    out, spent = [], 0.0
    for test in sorted(cost, key=cost.__getitem__):
        spent += covered[test]["seconds"]
        if not out or spent <= budget:
            out.append(test)
    return out


def ask(
    mutants: list[plan.Planned],
    covered: dict[str, dict[str, Any]],
    answers: dict[str, Any],
    seconds: float,
    budget: float,
) -> None:
    """Run mutants that have no answer yet, and note the answers."""
    for facts in covered.values():
        facts["reached"] = set(facts["reached"])
    kills = Counter(
        a["by"] for a in answers.values() if a["end"] in ("failed", "timeout") or "crash" in a["end"]
    )
    work = [(mutant, tests_for(mutant, covered, kills, budget)) for mutant in mutants]
    for mutant, tests in work:
        if not tests:
            answers[mutant.key] = {"end": "not reached", "by": "", "tests": 0}
    job = {
        "kind": "run",
        "seconds": seconds,
        "mutants": [(mutant.number, tests) for mutant, tests in work if tests],
        "test_seconds": {test: facts["seconds"] for test, facts in covered.items()},
    }
    keys = {mutant.number: mutant.key for mutant in mutants}
    begun: dict[int, list[str]] = {}
    for facts in run_pytest(job, *folders()) if job["mutants"] else []:
        if "begins" in facts:
            begun.setdefault(facts["begins"], []).append(facts["test"])
            continue
        tests = begun[facts["mutant"]]
        by = "" if facts["end"] == "survived" else tests[-1]
        answers[keys[facts["mutant"]]] = {
            "end": facts["end"],
            "by": by,
            "tests": len(tests),
            "seconds": facts["seconds"],
        }
    ANSWERS.write_text(json.dumps(answers, indent=0))


def listed() -> tuple[set[str], set[tuple[str, str]]]:
    """Give the keys of equivalent mutants, and the lines of files that run on other machines."""
    entries = tomllib.loads(EQUIVALENT.read_text())
    equivalent = {
        f"{entry['file']} | {entry['line']} | {change}"
        for entry in entries["equivalent"]
        for change in entry["changes"]
    }
    return equivalent, {(entry["file"], line) for entry in entries["elsewhere"] for line in entry["lines"]}


def report(mutants: list[plan.Planned], answers: dict[str, Any]) -> bool:
    """Print what survived and the share killed by group; say whether every group is at 95% or above."""
    equivalent, elsewhere = listed()
    enough = True
    table = []
    for group in plan.GROUPS:
        counts: Counter[str] = Counter()
        for mutant in (m for m in mutants if m.group == group):
            kind = answers.get(mutant.key, {"end": "not asked"})["end"]
            if kind not in ("survived", "not reached", "not asked"):
                kind = "killed"
            elif kind != "not asked" and mutant.key in equivalent:
                kind = "equivalent"
            elif kind == "not reached" and (mutant.file, mutant.source) in elsewhere:
                kind = "run elsewhere"
            elif kind != "not asked":
                print(f"{kind.upper()} {mutant.file}:{mutant.line} | {mutant.change} | {mutant.source}")
            counts[kind] += 1
        told = counts["killed"] + counts["survived"] + counts["not reached"]
        share = counts["killed"] / told if told else 1.0
        enough = enough and share >= 0.95 and not counts["not asked"]
        table.append(f"{group:9} {share:6.1%} killed: {dict(counts)}")
    print("\n".join(table))
    return enough


def main() -> int:
    """Prepare what is missing, run what was asked for, report."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--budget", type=float, default=10)
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    if arguments.fresh or not (plan.WORK / "mutants.json").exists():
        plan.prepare()
        for path in (ANSWERS, COVER):
            path.unlink(missing_ok=True)
    mutants = sample(plan.read(), arguments.each, arguments.files)
    answers = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    if arguments.again:
        again = {mutant.key for mutant in mutants} - listed()[0]
        answers = {
            k: a for k, a in answers.items() if k not in again or a["end"] not in ("survived", "not reached")
        }
    wanted = [mutant for mutant in mutants if mutant.key not in answers]
    if wanted:
        ask(wanted, cover(arguments.seconds), answers, arguments.seconds, arguments.budget)
    return 0 if report(mutants, answers) else 1


if __name__ == "__main__":
    sys.exit(main())
