"""Commands and saves killed at random moments; `make prove-kills` kills a thousand of each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("prove_kills.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_killed_process_leaves_a_whole_file():
    done = subprocess.run([sys.executable, SCRIPT, "5"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["work"] for one in found} == {"build", "merge", "predict", "save"}
    assert all(one["old"] + one["new"] == 5 for one in found)
