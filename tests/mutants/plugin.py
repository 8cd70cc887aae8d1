"""The pytest plugin that runs mutants: tests are collected once, and every mutant gets a fork of the process.

THETATREE_MUTANTS_JOB names a JSON file with what to do; the answers go, a line each, to the file named there.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from board import NONE, Board

LOOSE, ALLOWANCE = 10, 3.0  # a test may take so many times its time and so many seconds more
MEMORY = 4 << 30  # above what the process has


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Do the job in place of the tests."""
    job = json.loads(Path(os.environ["THETATREE_MUTANTS_JOB"]).read_text())
    runner = _Runner(session.items, Board(os.environ["THETATREE_MUTANTS"]), job)
    runner.cover() if job["kind"] == "cover" else runner.run()
    return True


class _Runner:
    def __init__(self, items: list[pytest.Item], board: Board, job: dict[str, Any]) -> None:
        self.items, self.board, self.job = {item.nodeid: item for item in items}, board, job
        self.until = time.monotonic() + job["seconds"]
        self.outcome = "passed"
        for item in items[:1]:
            item.config.pluginmanager.register(self, "mutants-outcome")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what became of the test: anything but a pass lasts."""
        if report.outcome != "passed":
            self.outcome = report.outcome

    def test(self, tests: list[str], place: int) -> str:
        """Run one of a list of tests; say what became of it."""
        self.outcome = "passed"
        item = self.items[tests[place]]
        after = self.items[tests[place + 1]] if place + 1 < len(tests) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return self.outcome

    def answer(self, **fields: Any) -> None:
        """Append an answer; a fork that dies has lost nothing."""
        with Path(self.job["answers"]).open("a") as file:
            file.write(json.dumps(fields) + "\n")

    def fork(self, body: Callable[[], int], patience: float) -> int | None:
        """Run a body in a fork; give its exit code, minus a signal's number, or None if it took too long."""
        child = os.fork()
        if child == 0:
            _confine()
            os._exit(body())
        until = time.monotonic() + patience
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None

    def cover(self) -> None:
        """Note what every test reaches, how long it takes and whether it passes with no mutant active."""
        self.board.activate(NONE)

        def all_tests() -> int:
            tests = self.job["tests"]
            for place, nodeid in enumerate(tests):
                if time.monotonic() > self.until:
                    break
                self.board.wipe()
                begun = time.monotonic()
                outcome = self.test(tests, place)
                seconds = time.monotonic() - begun
                self.answer(test=nodeid, outcome=outcome, seconds=seconds, reached=self.board.reached())
            return 0

        self.fork(all_tests, self.job["seconds"] + 120)

    def run(self) -> None:
        """Try the mutants: each with the tests it was given, until one fails."""
        seconds = self.job["test_seconds"]
        for number, tests in self.job["mutants"]:
            if time.monotonic() > self.until:
                return
            begun = time.monotonic()

            def one_mutant(number: int = number, tests: list[str] = tests) -> int:
                self.board.activate(number)
                for place, nodeid in enumerate(tests):
                    self.answer(begins=number, test=nodeid)
                    signal.setitimer(signal.ITIMER_REAL, LOOSE * seconds[nodeid] + ALLOWANCE)
                    if self.test(tests, place) == "failed":
                        return 1
                    signal.setitimer(signal.ITIMER_REAL, 0)
                return 0

            code = self.fork(one_mutant, sum(LOOSE * seconds[nodeid] + ALLOWANCE for nodeid in tests) + 5)
            self.board.activate(NONE)
            end = {0: "survived", 1: "failed", None: "timeout", -signal.SIGALRM: "timeout"}.get(
                code, f"crash {code}"
            )
            self.answer(mutant=number, end=end, seconds=time.monotonic() - begun)


def _confine() -> None:
    """Let a mutant neither eat the machine nor write to it, nor be heard."""
    os.setpgid(0, 0)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
