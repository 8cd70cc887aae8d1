"""The notebooks run from first cell to last, in a kernel of their own, and show what they promise."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = {
    "rows": ['class="tt-tree"', "segments by left", "data:image/png", "SELECT"],
    "sketches": ['class="tt-sketches"', 'class="tt-tree"', "±", "from all joined rows"],
    "judging": ['class="tt-tree"', "data:image/png", "accuracy", "leaves became"],
}
PROGRAM = """
import json, sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
print(json.dumps(notebook))
"""


def test_every_notebook_is_known():
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    pytest.importorskip("nbclient")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads(done.stdout)["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    shown = json.dumps(outputs, ensure_ascii=False).replace('\\"', '"').replace("image/png", "data:image/png")
    for words in SHOWN[path.stem]:
        assert words in shown, words
