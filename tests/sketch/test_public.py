import inspect
import subprocess
import sys

import pandas as pd

import thetatree as tt
from thetatree.sketch import build

ROWS = pd.DataFrame({"id": [1, 2], "red": [True, False]})


def test_the_folder_is_the_builder():
    assert tt.sketch(ROWS, key="id") == build.sketch(ROWS, "id")
    assert isinstance(tt.sketch(ROWS, key="id"), tt.SketchSet)
    assert inspect.signature(tt.sketch) == inspect.signature(build.sketch)


def test_in_whatever_order_things_are_imported():
    for first in (
        "import thetatree.sketch.wire",
        "tt.SketchSet",
        "from thetatree.sketch import SketchSet",
        "tt.sketch",
    ):
        code = (
            f"import thetatree as tt; {first}; assert callable(tt.sketch); assert tt.sketch.wire.read_cells"
        )
        subprocess.run([sys.executable, "-c", code], check=True)
