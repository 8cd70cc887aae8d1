"""The exported Python function against `predict` on random models."""

import numpy as np
import pandas as pd
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


def test_other_categories_of_sketches():
    """Texts that training put under "other" or never saw are "other"; the empty one is missing."""
    rng = np.random.default_rng(0)
    n = 6000
    city = rng.choice(["a", "b", *(f"rare {i}" for i in range(20))], n, p=[0.3, 0.3, *[0.02] * 20])
    frame = pd.DataFrame({"key": np.arange(n), "city": np.where(rng.random(n) < 0.2, None, city)})
    frame["y"] = np.where(np.isin(city, ["a", "b"]) ^ (rng.random(n) < 0.1), "yes", "no")
    sketches = tt.sketch(frame, key="key", target="y", max_categories=3)
    model = tt.ThetaSketchDecisionTreeClassifier().fit(sketches)
    assert "other" in model.tree_.features[0].labels
    table = pd.DataFrame({"city": ["a", "b", "rare 1", "never seen", "other", "", None]})
    names = {}
    exec(tt.export.to_python(model), names)
    said = [names["apply"](row) for row in table.to_dict("records")]
    assert said == model.apply(table).tolist()
    assert said[2] == said[3] == said[4] != said[0]
