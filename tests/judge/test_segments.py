"""The leaf table and what follows from it, against scikit-learn and plain counting over rows."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetatree as tt

GOLDEN = Path(__file__).parents[1] / "golden" / "segments.txt"


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    y = y.to_numpy() ^ (rng.random(len(y)) < 0.1)  # noisy, so that leaves are mixed
    X, Xt, y, yt = train_test_split(X, y, random_state=0, test_size=0.5)
    model = tt.CARTClassifier(max_depth=4, min_samples_leaf=8).fit(X, y)
    weight = rng.integers(0, 4, len(yt)) * 0.5
    return model, X, y, Xt, yt, weight


def test_the_table_counts_each_leaf(cancer):
    model, _, _, Xt, yt, weight = cancer
    found = tt.judge.segments(model, Xt, yt, sample_weight=weight)
    leaves = model.apply(Xt)
    frame = found.frame.set_index("leaf")
    assert frame.index.tolist() != sorted(frame.index)
    assert (np.diff(frame["score"]) <= 0).all()
    overall = np.average(yt, weights=weight)
    for leaf, line in frame.iterrows():
        mine = leaves == leaf
        w = weight[mine]
        rate = np.average(yt[mine], weights=w)
        assert line["n"] == (w > 0).sum()
        assert line["weight"] == w.sum()
        assert line["share"] == pytest.approx(w.sum() / weight.sum())
        assert line["rate"] == line["rate_1"] == pytest.approx(rate)
        assert line["rate_0"] == pytest.approx(1 - rate)
        assert line["score"] == model.tree_.values[leaf, 1]
        assert line["lift"] == pytest.approx(rate / overall)
        assert line["index"] == pytest.approx(100 * rate / overall)
        sure = w.sum() ** 2 / (w**2).sum()
        assert (line["lower"], line["upper"]) == pytest.approx(tt.judge.wilson(rate * sure, sure))
    rules = {rule.leaf: str(rule) for rule in model.tree_.rules()}
    assert frame["rule"].to_dict() == rules


def test_without_data_it_is_what_the_tree_was_grown_on(cancer):
    model, X, y, *_ = cancer
    own, counted = tt.judge.segments(model), tt.judge.segments(model, X, y)
    pd.testing.assert_frame_equal(own.frame, counted.frame)
    assert str(own) == str(counted)
    pd.testing.assert_frame_equal(tt.judge.segments(model.tree_).frame, own.frame)


def test_curves_are_scikit_learns(cancer):
    model, _, _, Xt, yt, weight = cancer
    score = model.predict_proba(Xt)[:, 1]
    found = tt.judge.segments(model, Xt, yt, sample_weight=weight)
    roc = found.roc()
    fpr, tpr, thresholds = roc_curve(yt, score, sample_weight=weight, drop_intermediate=False)
    assert roc.auc == pytest.approx(roc_auc_score(yt, score, sample_weight=weight))
    assert np.allclose(roc.frame["fpr"], fpr) and np.allclose(roc.frame["tpr"], tpr)
    assert np.allclose(roc.frame["threshold"], thresholds)
    curve = found.precision_recall()
    wanted = average_precision_score(yt, score, sample_weight=weight)
    assert curve.average_precision == pytest.approx(wanted)
    for line in found.thresholds((3, 1)).frame.itertuples():
        flagged = score >= line.threshold
        matrix = confusion_matrix(yt, flagged, sample_weight=weight)
        counts = [line.true_negative, line.false_positive, line.false_negative, line.true_positive]
        assert np.allclose(matrix.ravel(), counts)
        given = {"sample_weight": weight}
        assert line.precision == pytest.approx(precision_score(yt, flagged, **given))
        assert line.recall == pytest.approx(recall_score(yt, flagged, **given))
        assert line.f1 == pytest.approx(f1_score(yt, flagged, **given))
        assert line.balanced_accuracy == pytest.approx(balanced_accuracy_score(yt, flagged, **given))
        assert line.cost == pytest.approx(3 * matrix[1, 0] + matrix[0, 1])
        assert line.taken == pytest.approx(np.average(flagged, weights=weight))


def test_calibration_is_scikit_learns(cancer):
    model, _, _, Xt, yt, weight = cancer
    score = model.predict_proba(Xt)[:, 1]
    found = tt.judge.segments(model, Xt, yt).calibration(5)
    observed, predicted = calibration_curve(yt, score, n_bins=5)
    assert np.allclose(found.frame["rate"], observed) and np.allclose(found.frame["predicted"], predicted)
    shares = found.frame["n"] / found.frame["n"].sum()
    assert found.error == pytest.approx((shares * np.abs(observed - predicted)).sum())
    weighted = tt.judge.segments(model, Xt, yt, sample_weight=weight).calibration()
    assert weighted.brier == pytest.approx(brier_score_loss(yt, score, sample_weight=weight))
    for line in weighted.frame.itertuples():
        mine = (score >= line[1]) & (score < line.to + (line.to == 1))
        sure = weight[mine].sum() ** 2 / (weight[mine] ** 2).sum()
        bounds = tt.judge.wilson(np.average(yt[mine], weights=weight[mine]) * sure, sure)
        assert (line.lower, line.upper) == pytest.approx(bounds)
    assert (found.frame["lower"] <= found.frame["rate"]).all()


def test_gains_reach_everything_in_the_end(cancer):
    model, _, _, Xt, yt, _ = cancer
    score = model.predict_proba(Xt)[:, 1]
    gains = tt.judge.segments(model, Xt, yt).gains()
    for line in gains.frame.itertuples():
        taken = score >= line.score
        assert line.captured == pytest.approx(yt[taken].sum() / yt.sum())
        assert line.cumulative_share == pytest.approx(taken.mean())
        assert line.cumulative_rate == pytest.approx(yt[taken].mean())
        assert line.cumulative_lift == pytest.approx(yt[taken].mean() / yt.mean())
        assert line.rate == pytest.approx(yt[score == line.score].mean())
    last = gains.frame.iloc[-1]
    assert (last["captured"], last["cumulative_share"], last["cumulative_index"]) == pytest.approx(
        (1, 1, 100)
    )


def test_deciles_share_out_the_leaves_on_their_borders():
    """Two leaves: 30 rows with rate 1/2, 70 with rate 1/10."""
    X = np.repeat([[1.0], [0.0]], [30, 70], axis=0)
    y = np.repeat([1, 0, 1, 0], [15, 15, 7, 63])
    found = tt.judge.segments(tt.CARTClassifier(max_depth=1).fit(X, y))
    deciles = found.gains(10).frame
    assert np.allclose(deciles["rate"], [0.5] * 3 + [0.1] * 7)
    assert np.allclose(deciles["n"], 10)
    assert np.allclose(deciles["score"], [0.5] * 3 + [0.1] * 7)
    quarters = found.lift(4).frame
    assert quarters["hits"].tolist() == pytest.approx([12.5, 2.5 + 2.0, 2.5, 2.5])
    assert quarters["cumulative_lift"].iloc[-1] == pytest.approx(1)


def test_regression_has_means():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    model = tt.CARTRegressor(max_depth=3, min_samples_leaf=20).fit(X, y)
    own, counted = tt.judge.segments(model), tt.judge.segments(model, X, y)
    pd.testing.assert_frame_equal(own.frame, counted.frame)
    weighted = tt.judge.segments(model, X, y, sample_weight=weight).frame.set_index("leaf")
    leaves, y = model.apply(X), y.to_numpy()
    for line in own.frame.itertuples():
        mine = y[leaves == line.leaf]
        assert line.mean == line.score == pytest.approx(mine.mean())
        assert line.error == pytest.approx(mine.std(ddof=1) / np.sqrt(len(mine)))
        assert line.lower < line.mean < line.upper
        assert line.lift == pytest.approx(mine.mean() / y.mean())
        assert weighted.loc[line.leaf, "mean"] == pytest.approx(
            np.average(mine, weights=weight[leaves == line.leaf])
        )
    gains = own.gains().frame
    best = y[model.predict(X) >= gains["score"][1]]
    assert gains["cumulative_rate"][1] == pytest.approx(best.mean())
    assert gains["captured"][1] == pytest.approx(best.sum() / y.sum())
    assert "mean so far" in str(own.gains())
    for method in ("roc", "precision_recall", "thresholds", "calibration"):
        with pytest.raises(ValueError, match=f"{method} is for classes"):
            getattr(own, method)()


def test_means_that_are_not_amounts_have_no_lift():
    found = tt.judge.segments(tt.CARTRegressor().fit([[0], [1]], [-1.0, 1.0]))
    assert found.frame["lift"].isna().all()
    assert found.frame["error"].isna().all()  # one row says nothing of the spread


def test_medians_need_the_rows():
    X, y = [[0], [0], [0], [1]], [1.0, 2.0, 6.0, 8.0]
    model = tt.CARTRegressor(criterion="absolute_error").fit(X, y)
    with pytest.raises(ValueError, match=r"hold medians, no means: give the rows too"):
        tt.judge.segments(model)
    assert tt.judge.segments(model, X, y).frame[["score", "mean"]].to_numpy().tolist() == [[8, 8], [2, 3]]


def test_more_classes():
    iris = load_iris(as_frame=True)
    y = iris.target_names[iris.target]
    model = tt.CARTClassifier(max_depth=2).fit(iris.data, y)
    found = tt.judge.segments(model)
    assert found.frame["prediction"].tolist() == ["setosa", "versicolor", "virginica"]
    assert found.frame["rate"].round(3).tolist() == [1.0, 0.907, 0.978]
    assert found.frame["lift"].round(2).tolist() == [3.0, 2.72, 2.93]
    with pytest.raises(ValueError, match=r"which class is to be found\? Give it: .*target='setosa'"):
        found.roc()
    chosen = tt.judge.segments(model, target="versicolor")
    wanted = roc_auc_score(y == "versicolor", model.predict_proba(iris.data)[:, 1])
    assert chosen.roc().auc == pytest.approx(wanted)


def test_whatever_is_around_the_tree(cancer):
    model, X, y, Xt, yt, _ = cancer
    plain = tt.judge.segments(model, Xt, yt)
    same = tt.judge.segments(FrozenEstimator(model), Xt, yt)
    pd.testing.assert_frame_equal(same.frame, plain.frame)
    pipeline = make_pipeline(StandardScaler(), tt.CARTClassifier(max_depth=4, min_samples_leaf=8))
    search = GridSearchCV(pipeline, {"cartclassifier__max_depth": [4]}, cv=2).fit(X, y)
    piped = tt.judge.segments(search, Xt, yt)
    tuned = TunedThresholdClassifierCV(clone(model), cv=2).fit(X, y)
    assert tt.judge.segments(tuned, Xt, yt).frame["rate"].tolist() == plain.frame["rate"].tolist()
    assert piped.frame["rate"].tolist() == plain.frame["rate"].tolist()


def test_labels_of_any_type():
    X, y = [[0], [1], [2], [3]], np.array(["a", 1, "a", 1], dtype=object)
    model = tt.CARTClassifier().fit([[0], [1], [2], [3]], ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match=r"y holds 1, which is not a class of the tree"):
        tt.judge.segments(model, X, y)
    found = tt.judge.segments(model, X, np.array(["a", "b", "a", "b"], dtype=object))
    assert found.frame["rate"].tolist() == [1, 1, 0, 0]


def test_an_empty_leaf_has_no_rate():
    model = tt.CARTClassifier().fit([[0], [1]], [0, 1])
    found = tt.judge.segments(model, [[1.0], [1.0]], [1, 0])
    assert found.frame["n"].tolist() == [2, 0]
    assert np.isnan(found.frame["rate"][1])
    assert (found.frame["lower"][1], found.frame["upper"][1]) == (0, 1)
    assert "–" in str(found)
    assert len(found.calibration().frame) == 1
    one_class = tt.judge.segments(model, [[1.0], [1.0]], [1, 1])
    assert np.isnan(one_class.roc().auc)


class Other(BaseEstimator):
    """Of another library: its tree is something else."""

    tree_ = 3

    def fit(self):
        return self


def test_ways_to_be_wrong(cancer):
    model, _, _, Xt, yt, _ = cancer
    cases = [
        ((model, Xt), {}, r"rows need their y"),
        ((model, None, yt), {}, r"y and sample_weight come with rows"),
        ((model, Xt, yt[:-1]), {}, r"y must hold one value per row, 285 in all; its shape is \(284,\)"),
        ((model, Xt, np.full(len(yt), 7)), {}, r"y holds 7, which is not a class of the tree"),
        ((model,), {"target": 2}, r"target=2 is not a class of the tree; the classes are \[0, 1\]"),
        ((model,), {"level": 95}, r"level must be a number between 0 and 1"),
        ((model, Xt, yt), {"sample_weight": -np.ones(len(yt))}, r"Negative values"),
    ]
    for arguments, options, message in cases:
        with pytest.raises(ValueError, match=message):
            tt.judge.segments(*arguments, **options)
    with pytest.raises(TypeError, match="expected a thetatree estimator or Tree"):
        tt.judge.segments(Other())
    found = tt.judge.segments(model)
    for weights, message in [
        ((1,), "two numbers"),
        ((0, 0), "not both 0"),
        ((-1, 2), "of at least 0"),
        (("a", 1), "must be a number"),
    ]:
        with pytest.raises(ValueError, match=message):
            found.thresholds(weights)
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1 or None; got 0"):
        found.gains(0)
    with pytest.raises(ValueError, match="by must be one of precision, recall"):
        found.thresholds().best("auc")
    regressor = tt.CARTRegressor(max_depth=1).fit(Xt, yt)
    with pytest.raises(ValueError, match="target=1 is a class, and this tree predicts numbers"):
        tt.judge.segments(regressor, target=1)
    with pytest.raises(ValueError, match="the tree predicts numbers, but y holds"):
        tt.judge.segments(regressor, Xt, np.full(len(yt), "x"))
    with pytest.raises(ValueError, match=r"y\[0\] is nan"):
        tt.judge.segments(regressor, Xt, np.full(len(yt), np.nan))


def test_the_best_threshold(cancer):
    model, _, _, Xt, yt, _ = cancer
    table = tt.judge.segments(model, Xt, yt).thresholds((3, 1))
    assert table.best("accuracy")["accuracy"] == table.frame["accuracy"].max()
    assert table.best("cost")["cost"] == table.frame["cost"].min()
    assert table.best()["f1"] == table.frame["f1"].max()
    assert "calibrated scores pay from 25.0% on" in str(table)


# From sketches


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(3)
    n = 60_000
    data = pd.DataFrame({"id": np.arange(n), "vip": rng.random(n) < 0.1, "new": rng.random(n) < 0.4})
    data["age"] = rng.integers(18, 80, n)
    chance = 0.1 + 0.5 * data["vip"] + 0.2 * (data["age"] > 50) * ~data["new"]
    data["buys"] = np.where(rng.random(n) < chance, "yes", "no")
    return data


def test_from_sketches_the_truth_lies_within_the_interval(shop):
    made = tt.sketch(shop, key="id", target="buys", lg_k=11)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(made)
    truth = tt.judge.segments(model, shop, shop["buys"]).frame.set_index("leaf")
    for given in ((), (made,)):
        found = tt.judge.segments(model, *given).frame.set_index("leaf")
        assert len(found) > 3
        true = truth.loc[found.index]
        assert ((found["lower"] < true["rate"]) & (true["rate"] < found["upper"])).mean() > 0.6
        assert ((found["n_lower"] < true["n"]) & (true["n"] < found["n_upper"])).mean() > 0.6
        assert (found["upper"] - found["lower"] < 0.2).all()
        assert found["n"].sum() == pytest.approx(len(shop), rel=0.05)
    assert " ± " in str(tt.judge.segments(model)) and "keys" in str(tt.judge.segments(model))


def test_exact_sketches_count_as_rows_do(shop):
    made = tt.sketch(shop[:2000], key="id", target="buys")
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(made)
    later = shop[2000:4000]
    found = tt.judge.segments(model, tt.sketch(later, key="id", target="buys", like=made))
    rows = tt.judge.segments(model, later, later["buys"])
    for name in ("n", "rate", "lift", "score"):
        assert np.allclose(found.frame[name], rows.frame[name])
    assert np.allclose(found.frame["lower"], found.frame["rate"])  # nothing is estimated
    assert found.roc().auc == pytest.approx(rows.roc().auc)
    assert found.calibration().brier == pytest.approx(rows.calibration().brier)
    assert str(found).count("±") == 0


def test_effective_cases_of_a_leaf_from_sketches(shop):
    """Wilson with n / ((1 - r)(1/τ₁ - 1) + r (1/τ₀ - 1)) cases, at the root of a one-leaf tree."""
    made = tt.sketch(shop, key="id", target="buys", lg_k=10)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=1, min_samples_leaf=30_000).fit(made)
    assert model.get_n_leaves() == 1
    line = tt.judge.segments(model).frame.iloc[0]
    (no, tau_no), (yes, tau_yes) = made.sketch("no"), made.sketch("yes")
    n_no, n_yes = len(no) / tau_no, len(yes) / tau_yes
    r = n_yes / (n_no + n_yes)
    cases = (n_no + n_yes) / ((1 - r) * (1 / tau_yes - 1) + r * (1 / tau_no - 1))
    assert line["rate"] == pytest.approx(r)
    assert (line["lower"], line["upper"]) == pytest.approx(tt.judge.wilson(r * cases, cases))


def test_sketches_do_not_go_through_a_pipeline(cancer, shop):
    model, X, y, *_ = cancer
    made = tt.sketch(shop[:100], key="id", target="buys")
    pipeline = make_pipeline(StandardScaler(), tt.CARTClassifier(max_depth=2)).fit(X, y)
    with pytest.raises(ValueError, match="which sketches can not follow"):
        tt.judge.segments(pipeline, made)
    with pytest.raises(ValueError, match="y and sample_weight come with rows"):
        tt.judge.segments(model, made, y)


# How it looks


def test_golden():
    """Rows that whole formulas make, so that the file does not hang on a generator."""
    i = np.arange(500)
    rows = pd.DataFrame({"age": 18 + (i * 37) % 60, "urban": (i * 7) % 10 < 4})
    y = np.where((i * 13) % 100 < 20 + 40 * rows["urban"] + (rows["age"] > 45) * 15, "yes", "no")
    found = tt.judge.segments(tt.CARTClassifier(max_depth=2).fit(rows, y))
    text = [str(found), str(found.gains()), str(found.lift(4)), str(found.roc())]
    text += [str(found.precision_recall()), str(found.thresholds((3, 1))), str(found.calibration())]
    printed = "\n\n".join(text) + "\n"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8")


def test_html_is_escaped():
    X = pd.DataFrame({"<b>": [0, 1, 2, 3]})
    found = tt.judge.segments(tt.CARTClassifier().fit(X, ["<i>", "<i>", "b", "b"]), target="<i>")
    html = found._repr_html_()
    assert "<b>" not in html and "<i>" not in html and "&lt;b&gt; ≤ 1.5" in html
    assert html.count("<tr>") == 3


def test_long_tables_are_cut_in_print():
    x = np.arange(400)[:, np.newaxis]
    found = tt.judge.segments(tt.CARTClassifier().fit(x, x.ravel() % 2))
    assert str(found).endswith("... 340 more lines: .frame has them all")
    assert len(found.frame) == 400


def test_a_plot_of_its_own(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    found = tt.judge.segments(tt.CARTClassifier().fit([[0], [1]], [0, 1]))
    figure = found.roc().plot().figure
    assert len(figure.axes) == 1
    pyplot.close(figure)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'thetatree\[plot\]'"):
        found.roc().plot()


def test_plots(cancer):
    figure = pytest.importorskip("matplotlib.figure")
    model, _, _, Xt, yt, _ = cancer
    found = tt.judge.segments(model, Xt, yt)
    numbers = tt.judge.segments(tt.CARTRegressor(max_depth=2).fit(Xt, yt))
    tables = [found, found.gains(), found.lift(), found.lift(10), found.roc(), found.precision_recall()]
    tables += [found.thresholds(), found.calibration(), numbers, numbers.gains(), numbers.lift()]
    for table in tables:
        ax = figure.Figure().subplots()
        assert table.plot(ax) is ax
        assert ax.get_title().split() == table.title.split()
        assert ax.lines or ax.patches
        ax.figure.canvas.draw()
    x, y = found.roc().plot(figure.Figure().subplots()).lines[0].get_data()
    assert np.allclose(x, found.roc().frame["fpr"]) and np.allclose(y, found.roc().frame["tpr"])
