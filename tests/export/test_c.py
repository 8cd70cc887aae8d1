"""The exported header, compiled, against `predict` on random models."""

import ctypes
import shutil
import subprocess

import numpy as np
from export.engines import lacking
from export.positions import encoded, has_categories
from naive.models import random_model

import thetatree as tt

FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
RUN = """
#include "NAME.h"
void NAME_run(long n, const double *x, int *leaf, double *said, double *shares) {
  (void)shares;
  for (long r = 0; r < n; ++r) {
    leaf[r] = NAME_apply(x + r * COLUMNS);
    said[r] = NAME_predict(x + r * COLUMNS);
"""
SHARES = "    NAME_predict_proba(x + r * COLUMNS, shares + r * CLASSES);"
CODE = """
double NAME_code_of(int column, const char *label) { return NAME_code(column, label); }
"""


def compiled(cases, folder):
    """One library with the functions of all cases, under names of their own."""
    if not shutil.which("cc"):
        lacking("cc")
    source = []
    for i, case in enumerate(cases):
        (folder / f"m{i}.h").write_text(tt.export.to_c(case.model, name=f"m{i}"), encoding="utf-8")
        sizes = {"COLUMNS": case.tree.n_features, "CLASSES": case.tree.values.shape[1], "NAME": f"m{i}"}
        text = RUN + SHARES * (case.tree.classes is not None) + "}}" + CODE * has_categories(case)
        for word, size in sizes.items():
            text = text.replace(word, str(size))
        source.append(text)
    (folder / "all.c").write_text("\n".join(source))
    subprocess.run(["cc", *FLAGS, "-shared", "-fPIC", "-o", "all.so", "all.c"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def pointer(array, kind):
    return array.ctypes.data_as(ctypes.POINTER(kind))


def run_all(library, i, case):
    """Leaf, prediction (the position of the class) and shares of each row of a case."""

    def code(column, label):
        function = getattr(library, f"m{i}_code_of")
        function.restype = ctypes.c_double
        return function(column, None if label is None else label.encode())

    x = encoded(case, code)
    n = len(x)
    leaf, said = np.empty(n, dtype=np.int32), np.empty(n)
    shares = np.empty((n, case.tree.values.shape[1]))
    getattr(library, f"m{i}_run")(
        ctypes.c_long(n),
        pointer(x, ctypes.c_double),
        pointer(leaf, ctypes.c_int),
        pointer(said, ctypes.c_double),
        pointer(shares, ctypes.c_double),
    )
    return leaf, said, shares


def check(cases, folder):
    """Leaf, prediction and shares of every row are the model's own."""
    library = compiled(cases, folder)
    for i, case in enumerate(cases):
        leaf, said, shares = run_all(library, i, case)
        assert np.array_equal(leaf, case.leaves), case.name
        if case.shares is None:
            assert said.tolist() == case.predictions, case.name
        else:
            assert [case.tree.classes[int(k)] for k in said] == case.predictions, case.name
            assert np.array_equal(shares, case.shares), case.name


def test_against_predict(tmp_path):
    check([random_model(seed) for seed in range(20)], tmp_path)
