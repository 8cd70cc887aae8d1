"""Too little memory is a MemoryError; `make prove-memory` looks at more and higher ceilings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).with_name("ceilings.py")
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") or "tsan" in os.environ.get("LD_PRELOAD", "")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="ceilings are set as Linux has them"),
    pytest.mark.skipif(SANITIZED, reason="the sanitizers take all addresses there are"),
]


def test_every_ceiling_ends_in_an_error_or_a_result():
    done = subprocess.run(
        [sys.executable, SCRIPT, "3", "300000"], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()][:-1]
    assert len(found) == 12
    assert sum(one["refused"] for one in found) >= 6
    assert all(one["done"] for one in found)


def test_the_command_says_it_in_a_line(tmp_path):
    n = 400_000
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"x{j}" for j in range(20)])
    rows.assign(y=rng.integers(0, 2, n)).to_parquet(tmp_path / "rows.parquet")
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "import pandas, pyarrow.parquet, sklearn.tree, thetatree\n"
        "from thetatree.cli.app import main\n"
        "has = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (has + (64 << 20),) * 2)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = ["fit", "rows.parquet", "--target", "y", "-o", "model.json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1
    assert "not enough memory" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
