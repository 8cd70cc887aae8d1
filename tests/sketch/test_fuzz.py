"""The parser under the sanitizers: needs a compiler, so only when THETATREE_SANITIZED_FUZZ=1000000 asks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOBS = os.environ.get("THETATREE_SANITIZED_FUZZ")
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


@pytest.mark.skipif(not BLOBS, reason="THETATREE_SANITIZED_FUZZ is not set")
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_no_blob_gets_past_the_sanitizers(tmp_path):
    sources = [
        ROOT / "tests/sketch/fuzz_wire.cpp",
        ROOT / "kernel/theta_wire.cpp",
        ROOT / "kernel/theta_text.cpp",
    ]
    program = tmp_path / "fuzz"
    subprocess.run(["g++", *FLAGS, f"-I{ROOT / 'kernel'}", *sources, "-o", program], check=True)
    done = subprocess.run([program, BLOBS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
