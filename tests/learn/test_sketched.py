"""Classifiers of rows that take a sketch set as well."""

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree import CARTClassifier
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n),
            "color": rng.choice(["red", "green", "blue"], n),
            "vip": rng.random(n) < 0.3,
            "tags": [list(rng.choice(["a", "b", "c"], rng.integers(0, 3), replace=False)) for _ in range(n)],
        }
    )
    score = 0.03 * frame.age + (frame.color == "red") - 2 * frame.vip + rng.normal(size=n)
    frame["buys"] = np.where(score > 1.5, "yes", "no")
    return frame


PEOPLE = people()
COARSE = tt.sketch(PEOPLE, "id", "buys", lg_k=8)
EXACT = tt.sketch(PEOPLE, "id", "buys", lg_k=13, bins=64)
PARAMETERS = [
    {},
    {"max_depth": 2},
    {"criterion": "entropy", "min_samples_leaf": 100},
    {"criterion": "chi_square", "max_leaf_nodes": 4},
    {"class_weight": "balanced", "min_impurity_decrease": 0.01},
    {"max_features": 2, "random_state": 3, "min_samples_split": 0.2},
]


@pytest.mark.parametrize("sketches", [COARSE, EXACT], ids=["estimated", "exact"])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_the_same_tree_as_the_sketch_tree(sketches, parameters):
    model = CARTClassifier(**parameters).fit(sketches)
    assert model.tree_ == ThetaTree(**parameters).fit(sketches).tree_
    assert model.get_n_leaves() > 1
    assert model.classes_.tolist() == ["no", "yes"]
    raw = PEOPLE.drop(columns=["id", "buys"])
    assert np.array_equal(model.predict(raw), ThetaTree(**parameters).fit(sketches).predict(raw))


def test_exact_sketches_give_the_tree_of_the_rows():
    rows = PEOPLE[["color", "vip"]]
    from_rows = CARTClassifier().fit(rows, PEOPLE.buys)
    from_sketches = CARTClassifier().fit(EXACT.select(["color", "vip"]))
    assert np.allclose(from_sketches.predict_proba(rows), from_rows.predict_proba(rows), atol=1e-12)
    assert from_sketches.get_n_leaves() == from_rows.get_n_leaves()


def test_pruning_by_cost_and_complexity():
    path = CARTClassifier().cost_complexity_pruning_path(EXACT)
    assert len(path.ccp_alphas) > 3 and (np.diff(path.ccp_alphas) >= 0).all()
    alpha = path.ccp_alphas[len(path.ccp_alphas) // 2]
    pruned = CARTClassifier(ccp_alpha=alpha).fit(EXACT)
    assert 1 < pruned.get_n_leaves() < CARTClassifier().fit(EXACT).get_n_leaves()
    assert pruned.tree_ == CARTClassifier().fit(EXACT).tree_.prune(ccp_alpha=alpha)


def test_save_and_load(tmp_path):
    model = CARTClassifier(max_depth=3).fit(COARSE)
    model.save(tmp_path / "model.json")
    again = tt.load(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    raw = PEOPLE.drop(columns=["id", "buys"])
    assert np.array_equal(again.predict_proba(raw), model.predict_proba(raw))
    assert np.array_equal(again.feature_importances_, model.feature_importances_)


def test_rows_after_sketches_and_sketches_after_rows():
    rows = PEOPLE[["age", "vip"]].astype(float).to_numpy()
    model = CARTClassifier(max_depth=2).fit(COARSE)
    model.fit(rows, PEOPLE.buys)
    fresh = CARTClassifier(max_depth=2).fit(rows, PEOPLE.buys)
    assert model.tree_ == fresh.tree_
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict(rows), fresh.predict(rows))
    model.fit(COARSE)
    assert model.predict(PEOPLE).tolist() == CARTClassifier(max_depth=2).fit(COARSE).predict(PEOPLE).tolist()


@pytest.mark.parametrize(
    ("parameters", "given", "what"),
    [
        ({}, (PEOPLE.buys,), "y"),
        ({}, (None, np.ones(3)), "sample_weight"),
        ({"splitter": "random"}, (), "splitter=.random."),
        ({"monotonic_cst": {"age": 1}}, (), "monotonic_cst"),
        ({"missing": "error"}, (), "missing='error'"),
    ],
)
def test_what_does_not_go_with_sketches(parameters, given, what):
    with pytest.raises(ValueError, match=f"{what} does not go with a SketchSet"):
        CARTClassifier(**parameters).fit(COARSE, *given)


def test_a_regressor_says_that_it_reads_rows():
    with pytest.raises(TypeError, match="CARTRegressor reads rows here, not a SketchSet"):
        tt.CARTRegressor().fit(COARSE)
    with pytest.raises(TypeError, match="reads rows here"):
        CARTClassifier().fit(PEOPLE[["age"]], PEOPLE.buys).predict(COARSE)
