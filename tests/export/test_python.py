"""The exported Python function against `predict` on random models."""

import numpy as np
import pytest
from naive.models import random_model

import thetatree as tt


def check(case):
    names = {}
    exec(tt.export.to_python(case.model), names)
    rows = case.table.to_dict("records")
    assert [names["apply"](row) for row in rows] == case.leaves.tolist()
    assert [names["predict"](row) for row in rows] == case.predictions
    if case.shares is not None:
        assert np.array_equal([names["predict_proba"](row) for row in rows], case.shares)


@pytest.mark.parametrize("seed", range(40))
def test_against_predict(seed):
    check(random_model(seed))
