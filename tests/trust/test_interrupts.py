"""Ctrl-C stops a long call within a second, leaves no file and a process that can go on."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("interrupted.py")
SLACK = 5  # seconds on a busy machine; measured alone, every call ends within 0.2


def test_an_interrupt_stops_long_calls(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, "0.3"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(calls) == 8
    for call in calls:
        assert call["usable"], call
        assert call["seconds"] is not None, f"{call['call']} was done before it could be interrupted"
        assert call["seconds"] < SLACK, call
    assert not list(tmp_path.iterdir())
