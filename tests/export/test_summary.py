"""The printouts of AID, C4.5 and THAID against golden files; THETATREE_WRITE_GOLDEN=1 rewrites them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from naive.play import with_a_gap
from sklearn.datasets import load_iris

import thetatree as tt

GOLDEN = Path(__file__).parents[1] / "golden"


def households(n=400):
    """Incomes that whole formulas make, so that the golden files do not hang on a generator."""
    i = np.arange(n)
    frame = pd.DataFrame(
        {
            "age": 18 + (i * 37) % 60,
            "urban": (i * 7) % 10 < 4,
            "trade": np.array(["farm", "office", "shop", "works"])[(i * 11) % 13 % 4],
            "school": pd.Categorical(
                np.array(["none", "some", "all"])[(i * 5) % 7 % 3],
                categories=["none", "some", "all"],
                ordered=True,
            ),
        }
    )
    frame.loc[i % 17 == 0, "trade"] = None
    income = frame.age + 25 * (frame.trade == "office") * frame.urban + 12 * (frame.school == "all")
    return frame, income.to_numpy() + (i * 13) % 19


def aid():
    frame, income = households()
    return tt.AIDRegressor(p1=0.02, p2=0.008, max_groups=5, monotonic=["school"]).fit(frame, income)


def aid_weighted():
    frame, income = households(60)
    model = tt.AIDRegressor(max_depth=2, ranks={"urban": 0}, min_samples_leaf=5)
    return model.fit(frame, income, sample_weight=1 + np.arange(60) % 3 / 2)


def aid_one_group():
    return tt.AIDRegressor().fit([[1.0], [1.0]], [1, 2])


def thaid():
    frame, income = households()
    wealth = np.array(["poor", "middling", "rich"])[np.searchsorted([45, 70], income)]
    return tt.THAIDClassifier(min_gain=0.02, min_samples_leaf=10).fit(frame, wealth)


def thaid_delta():
    data = load_iris(as_frame=True)
    model = tt.THAIDClassifier(criterion="weighted_delta", max_depth=2, class_weight={"setosa": 2.5})
    return model.fit(data.data, data.target_names[data.target])


def thaid_many_classes():
    y = [f"class {i}" for i in range(10) for _ in range(3)]
    return tt.THAIDClassifier(max_leaf_nodes=3).fit(np.arange(30.0)[:, None], y)


def c45():
    return tt.C45Classifier().fit(*with_a_gap())


def c45_weighted():
    data = load_iris(as_frame=True)
    model = tt.C45Classifier(class_weight={"setosa": 2.5}, pruning=None)
    return model.fit(data.data, data.target_names[data.target])


@pytest.mark.parametrize(
    "make",
    [c45, c45_weighted, aid, aid_weighted, aid_one_group, thaid, thaid_delta, thaid_many_classes],
    ids=lambda f: f.__name__,
)
def test_golden(make):
    text = make().summary() + "\n"
    path = GOLDEN / f"summary_{make.__name__}.txt"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("cls", [tt.AIDRegressor, tt.C45Classifier, tt.THAIDClassifier])
def test_what_is_not_fitted_has_no_summary(cls):
    for method in ("summary", "summary_frame"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(cls(), method)()
