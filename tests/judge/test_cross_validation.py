"""Cross-validation and the search, against scikit-learn's on rows and against the rows on exact sketches."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from naive.sketch import hash_key
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.model_selection import cross_validate as theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetatree as tt
from thetatree.judge.counts import Counts
from thetatree.judge.scores import class_scores

SCORES = {"accuracy": "accuracy", "auc": "roc_auc", "log_loss": "neg_log_loss", "brier": "neg_brier_score"}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_two_classes_as_scikit_learn_judges_them(cancer):
    X, y = cancer
    model = tt.CARTClassifier(max_depth=3)
    found = tt.judge.cross_validate(model, X, y, folds=4, random_state=1)
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    wanted = theirs(model, X, y, cv=splitter, scoring=list(SCORES.values()))
    for ours, name in SCORES.items():
        sign = -1 if name.startswith("neg_") else 1
        scores = sign * wanted[f"test_{name}"]
        assert np.allclose(found.frame[ours], scores)
        assert found.mean[ours] == pytest.approx(scores.mean())
        assert found.se[ours] == pytest.approx(scores.std(ddof=1) / 2)
    same = tt.judge.cross_validate(model, X, y, folds=splitter)
    pd.testing.assert_frame_equal(same.frame, found.frame)
    assert found.frame["leaves"].tolist() == [m.get_n_leaves() for m in found.models]
    for fold, (_, test) in enumerate(splitter.split(X, y)):
        p = found.models[fold].predict_proba(X.iloc[test])[:, 1]
        bins = [np.minimum(p * 10, 9).astype(int) == b for b in range(10)]
        gaps = [abs(p[mine].mean() - y.iloc[test][mine].mean()) * mine.mean() for mine in bins if mine.any()]
        assert found.frame["calibration_error"][fold] == pytest.approx(sum(gaps))


def test_the_calibration_error_of_two_classes_is_about_the_second():
    """Too low for both groups; said of the likeliest class the two would cancel out."""
    predicted, count = np.array([[0.15, 0.85], [0.85, 0.15]]), np.array([[5.0, 95.0], [75.0, 25.0]])
    counts = Counts(predicted, count.sum(axis=1), count, count.sum(axis=1))
    assert class_scores(counts, 10)["calibration_error"] == pytest.approx(0.1)


def test_more_classes_as_scikit_learn_judges_them():
    X, y = load_iris(return_X_y=True)
    model = tt.CARTClassifier(max_depth=2)
    found = tt.judge.cross_validate(model, X, y, folds=3)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    wanted = theirs(model, X, y, cv=splitter, scoring=["accuracy", "roc_auc_ovr", "neg_log_loss"])
    assert np.allclose(found.frame["accuracy"], wanted["test_accuracy"])
    assert np.allclose(found.frame["auc"], wanted["test_roc_auc_ovr"])
    assert np.allclose(found.frame["log_loss"], -wanted["test_neg_log_loss"])
    for fold, (train, test) in enumerate(splitter.split(X, y)):
        p = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        off = ((p - np.eye(3)[y[test]]) ** 2).sum(axis=1).mean()
        assert found.frame["brier"][fold] == pytest.approx(off)
    assert len(found.calibration(target=2).frame) > 1
    with pytest.raises(ValueError, match=r"target=None is not a class; the classes are \[0, 1, 2\]"):
        found.calibration()


def test_numbers_as_scikit_learn_judges_them():
    X, y = load_diabetes(return_X_y=True)
    model = tt.CARTRegressor(max_depth=3)
    found = tt.judge.cross_validate(model, X, y)
    names = ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"]
    wanted = theirs(model, X, y, cv=KFold(5, shuffle=True, random_state=0), scoring=names)
    for ours, name, sign in zip(("r2", "rmse", "mae"), names, (1, -1, -1), strict=True):
        assert np.allclose(found.frame[ours], sign * wanted[f"test_{name}"])
    with pytest.raises(ValueError, match="calibration is for classes"):
        found.calibration()
    assert "r2" in str(tt.judge.cross_validate(LinearRegression(), X, y))


def test_weights_count_in_growing_and_judging(cancer):
    X, y = cancer
    weight = np.random.default_rng(0).integers(0, 4, len(y)) * 0.5
    model = tt.CARTClassifier(max_depth=2)
    found = tt.judge.cross_validate(model, X, y, folds=3, sample_weight=weight)
    for fold, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)):
        fitted = clone(model).fit(X.iloc[train], y[train], sample_weight=weight[train])
        p, given = fitted.predict_proba(X.iloc[test])[:, 1], {"sample_weight": weight[test]}
        line = found.frame.loc[fold]
        assert line["accuracy"] == pytest.approx(accuracy_score(y[test], p > 0.5, **given))
        assert line["auc"] == pytest.approx(roc_auc_score(y[test], p, **given))
        assert line["log_loss"] == pytest.approx(log_loss(y[test], p, **given))


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, np.asarray, sp.csr_matrix])
def test_tables_of_every_make(cancer, make):
    X, y = cancer
    model = tt.CARTClassifier(max_depth=2)
    found = tt.judge.cross_validate(model, make(X), y, folds=2)
    wanted = tt.judge.cross_validate(model, X, y, folds=2)
    assert np.allclose(found.frame, wanted.frame)


def test_any_classifier_and_labels_of_text(cancer):
    X, y = cancer
    labels = np.where(y, "fine", "ill")
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = tt.judge.cross_validate(model, X, labels, folds=3)
    assert found.mean["accuracy"] > 0.95
    assert "leaves" not in found.frame
    assert found.classes == ("fine", "ill")


def test_a_class_that_a_fold_lacks():
    """It is never predicted there, and costs what scikit-learn says it costs."""
    X, y = np.arange(10.0)[:, np.newaxis], np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    splits = [(np.arange(9), np.array([0, 4, 9])), (np.array([0, 4, 8, 9]), np.arange(4))]
    found = tt.judge.cross_validate(tt.CARTClassifier(), X, y, folds=splits)
    assert found.frame["accuracy"].tolist() == pytest.approx([2 / 3, 3 / 4])
    eps = np.finfo(float).eps
    assert found.frame["log_loss"][0] == pytest.approx(-np.log(eps) / 3)
    assert np.isnan(found.frame["auc"][1])  # one class alone can not be told from others
    first = [(np.arange(4, 10), np.array([3, 5, 9]))]
    assert tt.judge.cross_validate(tt.CARTClassifier(), X, y, folds=first).mean["log_loss"] == pytest.approx(
        -np.log(eps) / 3
    )


# From sketches


def table(n, seed=0, law=0):
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(law)
    flags = rng.random((n, 8)) < np.linspace(0.05, 0.6, 8)
    score = flags @ fixed.normal(scale=1.5, size=8) + 2 * (flags[:, 3] & flags[:, 7])
    frame = pd.DataFrame(flags).add_prefix("f")
    frame["age"] = rng.integers(0, 40, n)
    score = score + np.abs(frame["age"] - 20) / 8 + rng.logistic(size=n)
    frame["y"] = np.where(score > np.median(score), "yes", "no")
    frame["id"] = np.arange(n)
    return frame


def test_exact_sketches_give_what_the_rows_give():
    """With θ = 1 the figures are those of the held-out rows themselves."""
    rows = table(1500)
    made = tt.sketch(rows, key="id", target="y", lg_k=12)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3)
    found = tt.judge.cross_validate(model, made, folds=3)
    hashes = np.array([hash_key(key) for key in rows["id"].tolist()])
    seen = 0
    for fold, (grown_on, held_out) in enumerate(made.folds(3)):
        held = np.concatenate([held_out.sketch(label)[0] for label in ("no", "yes")])
        test = rows[np.isin(hashes, held)]
        seen += len(test)
        p = clone(model).fit(grown_on).predict_proba(test)
        truth = test["y"] == "yes"
        line = found.frame.loc[fold]
        assert line["accuracy"] == pytest.approx(((p[:, 1] > p[:, 0]) == truth).mean())
        assert line["auc"] == pytest.approx(roc_auc_score(truth, p[:, 1]))
        assert line["log_loss"] == pytest.approx(log_loss(truth, p[:, 1]))
        assert line["brier"] == pytest.approx(((p[:, 1] - truth) ** 2).mean())
    assert seen == len(rows)
    pooled = found.calibration(5)
    assert pooled.frame["n"].sum() == len(rows)
    assert pooled.brier == pytest.approx(found.frame["brier"].mean(), abs=0.01)


@pytest.mark.parametrize(("lg_k", "most"), [(9, 0.05), (11, 0.025)])
def test_sketches_estimate_the_held_out_accuracy(lg_k, most):
    """On average over a few problems; benchmarks/validation.py has the figures for thirty."""
    off = []
    for law in range(4):
        rows, test = table(40_000, 1, law), table(20_000, 2, law)
        made = tt.sketch(rows, key="id", target="y", lg_k=lg_k)
        model = tt.ThetaSketchDecisionTreeClassifier(max_depth=4)
        found = tt.judge.cross_validate(model, made)
        off.append(abs(found.mean["accuracy"] - clone(model).fit(made).score(test, test["y"])))
    assert np.mean(off) < most


def test_cart_from_sketches_too():
    made = tt.sketch(table(20_000), key="id", target="y", lg_k=10)
    found = tt.judge.cross_validate(tt.CARTClassifier(max_depth=3), made)
    assert 0.55 < found.mean["accuracy"] < 0.9
    assert "from sketches" in str(found)


def test_few_held_keys_are_told():
    rows = table(5000)
    told = tt.judge.cross_validate(
        tt.ThetaSketchDecisionTreeClassifier(max_depth=1), tt.sketch(rows, key="id", target="y", lg_k=8)
    )
    assert "a fold holds about 51 keys of class 'no': lg_k = 10 or fewer folds" in str(told)
    mapping = {"feature_mapping": {"f1": 0, "age": 1}}
    mapped = tt.judge.cross_validate(
        tt.ThetaSketchDecisionTreeClassifier(max_depth=2),
        tt.sketch(rows, key="id", target="y", lg_k=12),
        fit_params=mapping,
    )
    assert not mapped.notes
    assert {f.name for m in mapped.models for f in m.tree_.features} == {"f1", "age"}


# The search


def test_the_search_is_a_loop_over_cross_validate(cancer):
    X, y = cancer
    grid = {"max_depth": [1, 3, 6], "criterion": ["gini", "entropy"]}
    found = tt.judge.search(tt.CARTClassifier(), grid, X, y, folds=3, metric="log_loss")
    assert len(found.frame) == 6
    means = []
    for _, line in found.frame.iterrows():
        params = {name: line[f"param_{name}"] for name in grid}
        one = tt.judge.cross_validate(tt.CARTClassifier(**params), X, y, folds=3)
        assert line["mean_log_loss"] == pytest.approx(one.mean["log_loss"])
        assert line["se_accuracy"] == pytest.approx(one.se["accuracy"])
        assert line["leaves"] == pytest.approx(one.mean["leaves"])
        means.append(one.mean["log_loss"])
    assert found.best_index_ == int(np.argmin(means))
    assert found.best_score_ == pytest.approx(min(means))
    assert found.frame["chosen"].sum() == 1 and found.frame["chosen"][found.best_index_]
    best = found.best_estimator_
    assert best.get_params() | found.best_params_ == best.get_params()
    assert best.tree_ == tt.CARTClassifier(**found.best_params_).fit(X, y).tree_


def test_the_rule_of_one_standard_error():
    X = table(1000, law=5).drop(columns="id")
    y = X.pop("y")
    grid = {"max_depth": [1, 2, 3, 4, 6, 9]}
    best = tt.judge.search(tt.CARTClassifier(), grid, X, y, refit=False)
    least = tt.judge.search(tt.CARTClassifier(), grid, X, y, rule="1se", refit=False)
    assert best.best_estimator_ is None
    frame = best.frame
    bound = frame["mean_accuracy"].max() - frame["se_accuracy"][best.best_index_]
    within = frame[frame["mean_accuracy"] >= bound]
    assert least.best_params_["max_depth"] == within["param_max_depth"][within["leaves"].idxmin()]
    assert least.best_params_["max_depth"] < best.best_params_["max_depth"]


def test_of_equals_the_smaller_tree():
    X, y = load_iris(return_X_y=True)
    grid = {"max_depth": [30, 20], "min_samples_leaf": [1]}
    assert tt.judge.search(tt.CARTClassifier(), grid, X, y).best_params_["max_depth"] == 30
    y = (X[:, 2] > 2.5).astype(int)
    found = tt.judge.search(tt.CARTClassifier(), [{"max_depth": [3]}, {"max_leaf_nodes": [2]}], X, y)
    assert found.best_index_ == 0  # both have two leaves
    assert found.frame["param_max_depth"].isna().tolist() == [False, True]


def test_grid_search_of_scikit_learn_works_as_it_is(cancer):
    X, y = cancer
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 10]}
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    wanted = GridSearchCV(tt.CARTClassifier(), grid, cv=splitter).fit(X, y)
    found = tt.judge.search(tt.CARTClassifier(), grid, X, y, folds=3)
    assert np.allclose(found.frame["mean_accuracy"], wanted.cv_results_["mean_test_score"])
    assert found.best_score_ == pytest.approx(wanted.best_score_)
    numbers = GridSearchCV(tt.CARTRegressor(), {"ccp_alpha": [0.0, 0.001]}, cv=3).fit(X, y)
    assert set(numbers.best_params_) == {"ccp_alpha"}


def test_depth_from_sketches():
    """The data need depth two; depth ten, without a gate, would learn noise."""
    X, y = make_classification(4000, 12, n_informative=3, n_redundant=0, flip_y=0.3, random_state=0)
    rows = pd.DataFrame(X > 0.3).add_prefix("f")
    rows["y"], rows["id"] = y, np.arange(len(y))
    made = tt.sketch(rows, key="id", target="y", lg_k=10)
    model = tt.ThetaSketchDecisionTreeClassifier(significance=None, min_held=1)
    found = tt.judge.search(model, {"max_depth": [1, 2, 3, 4, 6, 10]}, made, rule="1se")
    assert 2 <= found.best_params_["max_depth"] <= 4
    assert found.best_estimator_.tree_.estimates is not None
    assert found.best_estimator_.get_depth() <= found.best_params_["max_depth"]
    deepest = found.frame.iloc[-1]
    assert deepest["mean_accuracy"] < found.frame["mean_accuracy"].max()


def test_every_parameter_can_be_searched_from_sketches():
    made = tt.sketch(table(20_000), key="id", target="y", lg_k=10)
    grid = {
        "max_depth": [2, 5],
        "min_samples_leaf": [1, 3000],
        "criterion": ["gini", "entropy"],
        "ccp_alpha": [0.0, 0.01],
    }
    found = tt.judge.search(tt.ThetaSketchDecisionTreeClassifier(), grid, made, folds=2, metric="brier")
    assert len(found.frame) == 16
    assert found.best_score_ == found.frame["mean_brier"].min()
    for name, fewer in (("max_depth", 2), ("min_samples_leaf", 3000), ("ccp_alpha", 0.01)):
        leaves = found.frame.groupby(f"param_{name}")["leaves"].mean()
        assert leaves[fewer] == leaves.min() < leaves.max()
    pruned = tt.ThetaSketchDecisionTreeClassifier(pruning="validation", max_depth=5)
    assert tt.judge.cross_validate(pruned, made, folds=2).mean["accuracy"] > 0.55


# Ways to be wrong


def test_what_is_refused(cancer):
    X, y = cancer
    made = tt.sketch(table(200), key="id", target="y")
    cart, theta = tt.CARTClassifier(), tt.ThetaSketchDecisionTreeClassifier()
    cases = [
        (lambda: tt.judge.cross_validate(cart, X), "rows need their y"),
        (lambda: tt.judge.cross_validate(theta, made, y), "a SketchSet knows its classes"),
        (lambda: tt.judge.cross_validate(theta, made, folds=1), "folds must be a whole number of at least 2"),
        (lambda: tt.judge.cross_validate(theta, made, folds=KFold(2)), "folds must be a whole number"),
        (lambda: tt.judge.cross_validate(cart, X, y, folds=1), "folds must be a whole number between 2"),
        (lambda: tt.judge.cross_validate(cart, X, y[1:]), "there are 569 rows, but 568 values of y"),
        (lambda: tt.judge.cross_validate(cart, X, y, bins=0), "bins must be a whole number of at least 1"),
        (lambda: tt.judge.search(cart, {"depth": [1]}, X, y), "'depth', which is not a parameter of CART"),
        (lambda: tt.judge.search(cart, {"max_depth": []}, X, y), "max_depth"),
        (lambda: tt.judge.search(cart, [], X, y), "the grid is empty"),
        (lambda: tt.judge.search(cart, {}, X, y, metric="f1"), "metric must be one of 'accuracy', 'auc'"),
        (lambda: tt.judge.search(cart, {}, X, y, rule="2se"), "rule must be one of 'best', '1se'"),
        (
            lambda: tt.judge.search(cart, {}, X[:4], [0, 0, 1, 1], folds=KFold(2), metric="auc"),
            "no candidate has a auc",
        ),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


# How it looks


def test_progress_is_shown_on_a_terminal_only(cancer, capsys):
    """Or where it is asked for; the bar itself is tested with the command's."""
    X, y = cancer
    grid = {"max_depth": [1, 2, 3]}
    tt.judge.search(tt.CARTClassifier(), grid, X, y, folds=2)
    tt.judge.cross_validate(tt.CARTClassifier(), X, y, folds=2)
    assert capsys.readouterr() == ("", "")
    tt.judge.search(tt.CARTClassifier(), grid, X, y, folds=2, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "searching" in err and "/6 fits" in err


def test_it_prints_and_plots(cancer):
    X, y = cancer
    found = tt.judge.cross_validate(tt.CARTClassifier(max_depth=2), X, y, folds=3)
    lines = str(found).splitlines()
    assert lines[0].startswith("3-fold cross-validation from rows: accuracy 0.9")
    assert [line.split()[0] for line in lines[1:]] == ["fold", "1", "2", "3", "mean", "se"]
    search = tt.judge.search(tt.CARTClassifier(), {"max_depth": [1, 2]}, X, y, folds=2)
    assert "max_depth=2" in str(search) and "*" in str(search)
    figure = pytest.importorskip("matplotlib.figure")
    for table in (found, search, found.calibration()):
        ax = table.plot(figure.Figure().subplots())
        ax.figure.canvas.draw()
        assert ax.lines
