"""Decisions about leaves: each rule by its definition, and the estimator in scikit-learn's company."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetatree as tt
from thetatree.judge import DecisionStrategy
from thetatree.judge.collateral import fewest_false_alarms


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(3000, 8, n_informative=4, flip_y=0.3, weights=[0.8], random_state=2)
    return train_test_split(X, np.where(y, "yes", "no"), random_state=0)


TREE = tt.CARTClassifier(max_depth=4, min_samples_leaf=15)


def leaf_table(strategy, X, y):
    """Hits, others and decision of each leaf, counted from rows."""
    leaves = strategy.apply(X)
    said = strategy.decisions_.set_index("leaf")["decision"]
    out = []
    for leaf in np.unique(leaves):
        mine = y[leaves == leaf] == "yes"
        out.append((int(mine.sum()), int((~mine).sum()), said[leaf]))
    return out


def test_weights_of_three_to_one_take_from_a_quarter_on(noisy):
    X, _, y, _ = noisy
    found = DecisionStrategy(TREE, "cost", weights=(3, 1)).fit(X, y)
    for hits, others, decision in leaf_table(found, X, y):
        assert (decision == "take") == (hits / (hits + others) >= 0.25)
    costs = {w: DecisionStrategy(TREE, "cost", weights=w).fit(X, y) for w in [(1, 1), (3, 1), (9, 1)]}
    for (missed, false), model in costs.items():
        mine = confusion_matrix(y, model.predict(X))
        cost = missed * mine[1, 0] + false * mine[0, 1]
        for other in costs.values():
            theirs = confusion_matrix(y, other.predict(X))
            assert cost <= missed * theirs[1, 0] + false * theirs[0, 1]
    exactly = DecisionStrategy(tt.CARTClassifier(), weights=(3, 1)).fit([[0]] * 4, [0, 0, 0, 1])
    assert exactly.predict([[0]]).tolist() == [1]  # a quarter is enough


def test_equal_weights_are_the_majority(noisy):
    X, Xt, y, _ = noisy
    plain, found = clone(TREE).fit(X, y), DecisionStrategy(TREE).fit(X, y)
    assert (found.predict(Xt) == plain.predict(Xt)).all()
    assert np.array_equal(found.predict_proba(Xt), plain.predict_proba(Xt))
    assert found.tree_ == plain.tree_


def test_binomial(noisy):
    X, _, y, _ = noisy
    overall = (y == "yes").mean()
    for method, rate in itertools.product(("exact", "twice_smaller"), (None, 0.4)):
        found = DecisionStrategy(TREE, "binomial", method=method, rate=rate).fit(X, y)
        reference = overall if rate is None else rate
        p = []
        for hits, others, decision in leaf_table(found, X, y):
            p.append(tt.judge.binomial_p(hits, hits + others, reference, method=method))
            above = hits / (hits + others) > reference
            assert decision == ("undecided" if p[-1] > 0.05 else "take" if above else "leave")
        assert found.decisions_.sort_values("leaf")["p"].tolist() == pytest.approx(p)
        assert set(found.decisions_["decision"]) == {"take", "leave", "undecided"}


def test_wilson(noisy):
    X, _, y, _ = noisy
    found = DecisionStrategy(TREE, "wilson", level=0.9, rate=0.35).fit(X, y)
    for hits, others, decision in leaf_table(found, X, y):
        lower, upper = tt.judge.wilson(hits, hits + others, 0.9)
        assert decision == ("take" if lower > 0.35 else "leave" if upper < 0.35 else "undecided")


def test_ratio(noisy):
    X, _, y, _ = noisy
    found = DecisionStrategy(TREE, "ratio", ratio=0.5, min_n=40).fit(X, y)
    for hits, others, decision in leaf_table(found, X, y):
        wanted = "take" if hits >= 0.5 * others else "leave"
        assert decision == (wanted if hits + others >= 40 else "undecided")
    assert "undecided" in set(found.decisions_["decision"])


def test_minimum_collateral(noisy):
    X, _, y, _ = noisy
    found = DecisionStrategy(TREE, "minimum_collateral", recall=0.7).fit(X, y)
    rows = leaf_table(found, X, y)
    best = None
    for some in itertools.product((False, True), repeat=len(rows)):
        hits = sum(row[0] for row, taken in zip(rows, some, strict=True) if taken)
        if hits >= 0.7 * (y == "yes").sum():
            false = sum(row[1] for row, taken in zip(rows, some, strict=True) if taken)
            best = min(best or (false, -hits), (false, -hits))
    got = confusion_matrix(y, found.predict(X))
    assert (got[0, 1], -got[1, 1]) == best


def test_the_fewest_false_alarms_of_all_choices():
    rng = np.random.default_rng(0)
    for problem in range(300):
        n = int(rng.integers(1, 9))
        hits, false = rng.integers(0, 12, (2, n)).astype(float)
        if problem % 3 == 0:
            hits, false = hits * rng.random(n), false * rng.random(n)
        recall = 1.0 if problem % 5 == 0 else rng.random()
        taken = fewest_false_alarms(hits, false, recall)
        choices = np.array(list(itertools.product((0, 1), repeat=n)))
        enough = choices[choices @ hits >= recall * hits.sum() - 1e-9]
        least = (enough @ false).min()
        most = (enough @ hits)[np.isclose(enough @ false, least)].max()
        assert (taken @ false, taken @ hits) == pytest.approx((least, most)), problem


def test_five_thousand_leaves_are_few():
    rng = np.random.default_rng(1)
    n = rng.integers(5, 400, 5000)
    hits = rng.binomial(n, rng.beta(0.6, 1.5, 5000)).astype(float)
    taken = fewest_false_alarms(hits, n - hits, 0.8)
    order = np.argsort(-hits / n, kind="stable")
    cut = np.searchsorted(np.cumsum(hits[order]), 0.8 * hits.sum()) + 1
    assert hits[taken].sum() >= 0.8 * hits.sum()
    assert (n - hits)[taken].sum() <= (n - hits)[order[:cut]].sum()


def test_undecided_leaves_abstain_or_are_negative(noisy):
    X, Xt, y, _ = noisy
    negative = DecisionStrategy(TREE, "wilson").fit(X, y)
    abstains = DecisionStrategy(TREE, "wilson", otherwise="abstain").fit(X, y)
    numbered = DecisionStrategy(TREE, "wilson", otherwise="abstain", abstain_label=-1).fit(X, y)
    a, b, c = (model.predict(Xt) for model in (negative, abstains, numbered))
    assert set(a) == {"no", "yes"} and set(b) == {"no", "yes", "abstain"} and set(c) == {"no", "yes", -1}
    assert ((b == "abstain") == (c == -1)).all()
    assert (a[b == "abstain"] == "no").all() and (a[b != "abstain"] == b[b != "abstain"]).all()
    leaves = abstains.decisions_.set_index("leaf")["decision"]
    assert ((leaves[abstains.apply(Xt)] == "undecided").to_numpy() == (b == "abstain")).all()


def test_decided_on_other_rows_than_grown_on(noisy):
    X, Xt, y, yt = noisy
    grown = clone(TREE).fit(X, y)
    found = DecisionStrategy(FrozenEstimator(grown), "cost", weights=(3, 1)).fit(Xt, yt)
    assert found.tree_ == grown.tree_
    for hits, others, decision in leaf_table(found, Xt, yt):
        assert (decision == "take") == (hits / (hits + others) >= 0.25)
    counted = tt.judge.segments(found, Xt, yt)
    assert counted.frame["leaf"].tolist() == found.decisions_["leaf"].tolist()


def test_weighted_rows(noisy):
    X, _, y, _ = noisy
    weight = np.random.default_rng(0).integers(1, 5, len(y)) * 0.5
    found = DecisionStrategy(TREE, "binomial").fit(X, y, sample_weight=weight)
    leaves, hit = found.apply(X), y == "yes"
    reference = np.average(hit, weights=weight)
    for line in found.decisions_.itertuples():
        w = weight[leaves == line.leaf]
        cases = w.sum() ** 2 / (w**2).sum()
        k = np.average(hit[leaves == line.leaf], weights=w) * cases
        assert line.p == pytest.approx(tt.judge.binomial_p(k, cases, reference, method="twice_smaller"))


def test_more_classes_need_a_target():
    X, y = load_iris(return_X_y=True)
    tree = tt.CARTClassifier(max_depth=2)
    with pytest.raises(ValueError, match=r"which class is to be found\? Give target="):
        DecisionStrategy(tree).fit(X, y)
    found = DecisionStrategy(tree, target=1, weights=(1, 99)).fit(X, y)
    assert (found.decisions_["decision"] == "leave").all()
    assert set(found.predict(X)) == {0, 2}  # what is not taken is the likeliest of the others


def test_in_scikit_learns_company(noisy):
    X, Xt, y, yt = noisy
    model = DecisionStrategy(TREE, "cost", weights=(3, 1))
    again = clone(model)
    assert again.get_params()["weights"] == (3, 1) and again.get_params()["estimator__max_depth"] == 4
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.tree_
    piped = make_pipeline(StandardScaler(), model).fit(X, y)
    assert piped.score(Xt, yt) == pytest.approx((piped.predict(Xt) == yt).mean())
    inside = DecisionStrategy(make_pipeline(StandardScaler(), TREE), "cost", weights=(3, 1)).fit(X, y)
    assert (inside.predict(Xt) == piped.predict(Xt)).all()
    assert cross_val_score(model, X, y, cv=3).shape == (3,)
    search = GridSearchCV(model, {"weights": [(1, 1), (3, 1)], "estimator__max_depth": [2, 3]}, cv=2)
    search.fit(X, y)
    assert search.best_estimator_.predict(Xt).shape == yt.shape
    framed = DecisionStrategy(TREE).fit(pd.DataFrame(X).add_prefix("x"), y)
    assert framed.feature_names_in_.tolist() == [f"x{i}" for i in range(8)] and framed.n_features_in_ == 8


# From sketches


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(3)
    n = 40_000
    data = pd.DataFrame({"id": np.arange(n), "vip": rng.random(n) < 0.1, "new": rng.random(n) < 0.4})
    data["buys"] = np.where(rng.random(n) < 0.1 + 0.3 * data["vip"] + 0.1 * data["new"], "yes", "no")
    return data


@pytest.mark.parametrize("strategy", ["cost", "binomial", "ratio", "wilson", "minimum_collateral"])
def test_from_sketches_as_from_rows(shop, strategy):
    tree = tt.ThetaSketchDecisionTreeClassifier(max_depth=2)
    options = {"weights": (3, 1), "ratio": 0.3, "recall": 0.4}
    made = tt.sketch(shop, key="id", target="buys", lg_k=12)
    found = DecisionStrategy(tree, strategy, **options).fit(made)
    rows = DecisionStrategy(FrozenEstimator(found.estimator_), strategy, **options).fit(shop, shop["buys"])
    assert (found.predict(shop) == rows.predict(shop)).all()
    judged = tt.judge.cross_validate(DecisionStrategy(tree, strategy, **options), made)
    assert judged.mean["accuracy"] == pytest.approx((found.predict(shop) == shop["buys"]).mean(), abs=0.05)


def test_abstaining_is_not_being_right(shop):
    made = tt.sketch(shop, key="id", target="buys", lg_k=11)
    tree = tt.ThetaSketchDecisionTreeClassifier(max_depth=2)
    never = DecisionStrategy(tree, "wilson", rate=0.2, level=1 - 1e-12, otherwise="abstain")
    said = never.fit(made).decisions_
    assert {"undecided"} < set(said["decision"])
    right = (never.predict(shop) == shop["buys"]).mean()
    assert tt.judge.cross_validate(never, made).mean["accuracy"] == pytest.approx(right, abs=0.03)


def test_estimates_are_tested_by_the_held_keys(shop):
    made = tt.sketch(shop, key="id", target="buys", lg_k=9)
    tree = tt.ThetaSketchDecisionTreeClassifier(max_depth=1, min_samples_leaf=30_000)
    found = DecisionStrategy(tree, "binomial", rate=0.2).fit(made)
    (no, tau_no), (yes, tau_yes) = made.sketch("no"), made.sketch("yes")
    n_no, n_yes = len(no) / tau_no, len(yes) / tau_yes
    n = n_no + n_yes
    r = n_yes / n
    worth = n / ((1 - r) * (1 / tau_yes - 1) + r * (1 / tau_no - 1))
    cases = 1 / (1 / n + 1 / worth)
    assert len(no) < cases < 4 * len(no)
    wanted = tt.judge.binomial_p(r * cases, cases, 0.2, method="twice_smaller")
    assert found.decisions_["p"][0] == pytest.approx(wanted)
    few = tt.sketch(shop[:300], key="id", target="buys")  # exact: every key is a case
    exact = DecisionStrategy(tree.set_params(min_samples_leaf=200), "binomial", rate=0.2).fit(few)
    hits = int((shop["buys"][:300] == "yes").sum())
    assert exact.decisions_["p"][0] == pytest.approx(tt.judge.binomial_p(hits, 300, 0.2))


def test_what_is_refused(noisy):
    X, _, y, _ = noisy
    cases = [
        ({"strategy": "costs"}, "strategy must be one of 'cost', 'binomial'"),
        ({"otherwise": "maybe"}, "otherwise must be one of 'negative', 'abstain'"),
        ({"target": "maybe"}, r"target='maybe' is not a class; the classes are \['no', 'yes'\]"),
        ({"weights": (1, -1)}, "weights must be a number of at least 0; got -1"),
        ({"strategy": "binomial", "rate": 2}, "rate must be a number between 0 and 1; got 2"),
        ({"strategy": "binomial", "significance": 5}, "significance must be a number between 0 and 1"),
        ({"strategy": "binomial", "method": "mid"}, "method must be one of 'exact', 'twice_smaller'"),
        ({"strategy": "wilson", "level": 95}, "level must be a number between 0 and 1"),
        ({"strategy": "ratio", "ratio": -1}, "ratio must be a number of at least 0"),
        ({"strategy": "ratio", "min_n": 2.5}, "min_n must be a whole number of at least 0"),
        ({"strategy": "minimum_collateral", "recall": 1.5}, "recall must be a number between 0 and 1"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            DecisionStrategy(TREE, **options).fit(X, y)
    numbers = DecisionStrategy(tt.CARTRegressor(max_depth=2))
    with pytest.raises(ValueError, match="DecisionStrategy is for classes: give a classifier"):
        numbers.fit(*load_diabetes(return_X_y=True))


# Unequal classes, as scikit-learn and imbalanced-learn treat them


def test_the_threshold_can_be_tuned():
    X, y = load_breast_cancer(return_X_y=True)
    tuned = TunedThresholdClassifierCV(tt.CARTClassifier(max_depth=4), scoring="balanced_accuracy").fit(X, y)
    assert 0 < tuned.best_threshold_ < 1
    assert tuned.predict(X).shape == y.shape


def rare(n=4000):
    return make_classification(n, 8, n_informative=4, weights=[0.95], class_sep=0.7, random_state=5)


def recall_of(model, X, y):
    return (model.predict(X)[y == 1] == 1).mean()


def test_class_weights_and_priors_find_more_of_a_rare_class():
    X, y = rare()
    plain = clone(TREE).fit(X, y)
    balanced = clone(TREE).set_params(class_weight="balanced").fit(X, y)
    assert recall_of(balanced, X, y) > recall_of(plain, X, y) + 0.2
    rows = pd.DataFrame(X > 0).add_prefix("f").assign(id=range(len(y)), y=y)
    made = tt.sketch(rows, key="id", target="y")
    theta = tt.ThetaSketchDecisionTreeClassifier(max_depth=4)
    even = clone(theta).set_params(priors={0: 0.5, 1: 0.5}).fit(made)
    assert recall_of(even, rows, y) > recall_of(theta.fit(made), rows, y) + 0.2


@pytest.mark.parametrize("sampler", ["SMOTE", "RandomOverSampler", "RandomUnderSampler"])
def test_imbalanced_learns_pipelines(sampler):
    over = pytest.importorskip("imblearn.over_sampling")
    under = pytest.importorskip("imblearn.under_sampling")
    pipeline = pytest.importorskip("imblearn.pipeline")
    make = getattr(over, sampler, None) or getattr(under, sampler)
    X, y = rare()
    model = pipeline.make_pipeline(make(random_state=0), clone(TREE)).fit(X, y)
    assert recall_of(model, X, y) > recall_of(clone(TREE).fit(X, y), X, y) + 0.2
    assert cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean() > 0.7
    judged = tt.judge.cross_validate(model, X, y, folds=3)
    assert judged.mean["auc"] > 0.7


def test_an_honest_tree_is_decided_about_by_the_keys_in_its_leaves(noisy, shop):
    X, _, y, _ = noisy
    found = DecisionStrategy(clone(TREE).set_params(honest=0.5), "binomial").fit(X, y)
    own = tt.judge.segments(found.estimator_)
    assert own.frame["n"].sum() == pytest.approx(len(y) / 2, abs=2)
    assert found.decisions_["n"].tolist() == own.frame["n"].tolist()
    assert found.decisions_["rate"].tolist() == own.frame["rate"].tolist()
    made = tt.sketch(shop, key="id", target="buys", lg_k=11)
    honest = tt.ThetaSketchDecisionTreeClassifier(max_depth=2, honest=0.5)
    from_sketches = DecisionStrategy(honest, "wilson").fit(made)
    own = tt.judge.segments(from_sketches.estimator_)
    assert from_sketches.decisions_["rate"].tolist() == own.frame["rate"].tolist()
