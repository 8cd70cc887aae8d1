"""Every refusal: an exception that names the column or value and says what would be right."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import thetatree as tt

X = np.arange(12.0).reshape(6, 2)
FRAME = pd.DataFrame(X, columns=["age", "height"])
Y = [0, 1, 0, 1, 1, 0]
NUMBERS = [0.5, 1, 2, 3, 4, 5]
BOTH = [(tt.CARTClassifier, Y), (tt.CARTRegressor, NUMBERS)]


@pytest.fixture(params=BOTH, ids=lambda p: p[0].__name__)
def cls_y(request):
    return request.param


# ---- X


def test_empty_input(cls_y):
    cls, _ = cls_y
    with pytest.raises(ValueError, match=r"0 sample"):
        cls().fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match=r"0 feature"):
        cls().fit(np.empty((2, 0)), [0, 1])
    with pytest.raises(ValueError, match=r"0 sample"):
        cls().fit(pd.DataFrame({"a": []}), [])


def test_wrong_shape(cls_y):
    cls, y = cls_y
    with pytest.raises(ValueError, match=r"Expected 2D array.*1D"):
        cls().fit(X[:, 0], y)
    with pytest.raises(ValueError, match=r"3"):
        cls().fit(X.reshape(6, 2, 1), y)
    with pytest.raises(ValueError, match=r"Expected 2D"):
        cls().fit(5.0, y)
    with pytest.raises((TypeError, ValueError)):
        cls().fit(None, y)


def test_wrong_number_of_columns(cls_y):
    cls, y = cls_y
    model = cls().fit(X, y)
    for method in (model.predict, model.apply, model.decision_path):
        with pytest.raises(ValueError, match=r"3 features.*2 features"):
            method(np.ones((1, 3)))
        with pytest.raises(ValueError, match=r"1 features.*2 features"):
            method(sp.csr_array(np.ones((1, 1))))
    with pytest.raises(ValueError, match=r"3 features.*2 features"):
        model.tree_.apply(np.ones((1, 3)))


def test_wrong_names_of_columns(cls_y):
    cls, y = cls_y
    model = cls().fit(FRAME, y)
    with pytest.raises(ValueError, match=r"'height'.*'age'.*reorder"):
        model.predict(FRAME[["height", "age"]])
    with pytest.raises(ValueError, match=r"(?s)weight.*height"):
        model.predict(FRAME.rename(columns={"height": "weight"}))
    with pytest.raises(ValueError, match=r"missing:\n- height"):
        model.predict(FRAME[["age"]])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- extra"):
        model.predict(FRAME.assign(extra=1))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values(cls_y, value):
    cls, y = cls_y
    model = cls().fit(FRAME, y)
    bad = FRAME.copy()
    bad.loc[2, "height"] = value
    for act in (lambda: cls().fit(bad, y), lambda: model.predict(bad)):
        with pytest.raises(ValueError, match=r"infinity.*'height'.*replace"):
            act()


def test_text_where_numbers_are_needed(cls_y):
    cls, y = cls_y
    model = cls().fit(FRAME, y)
    with pytest.raises(ValueError, match=r"'age' holds text.*number"):
        model.predict(FRAME.assign(age="old"))
    with pytest.raises(ValueError, match=r"'age'.*categorical_features"):
        cls(categorical_features=None).fit(FRAME.assign(age="old"), y)


def test_values_that_are_nothing_known(cls_y):
    cls, y = cls_y
    with pytest.raises(TypeError, match=r"string or a number.*'odd' holds \[1\] of type list"):
        cls().fit(pd.DataFrame({"odd": [[1]] * 6}), y)
    with pytest.raises(ValueError, match=r"'day'.*date.*convert"):
        cls().fit(pd.DataFrame({"day": pd.date_range("2020", periods=6)}), y)


def test_missing_values_where_refused(cls_y):
    cls, y = cls_y
    bad = FRAME.astype(float)
    bad.loc[2, "height"] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*'height'.*fill them.*'learnt'"):
        cls(missing="error").fit(bad, y)


# ---- y


def test_no_target(cls_y):
    cls, _ = cls_y
    with pytest.raises(ValueError, match=r"requires y.*label or number per row"):
        cls().fit(X)


def test_wrong_length_of_target(cls_y):
    cls, y = cls_y
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[6, 5\]"):
        cls().fit(X, y[:5])


def test_several_targets(cls_y):
    cls, y = cls_y
    with pytest.raises(ValueError, match=r"2 columns.*one target.*one tree per target"):
        cls().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("missing", [None, np.nan])
def test_labels_that_are_missing(missing):
    with pytest.raises(ValueError, match=r"row 2 is missing.*drop.*1 of 6"):
        tt.CARTClassifier().fit(X, np.array(["a", "b", missing, "a", "b", "a"], dtype=object))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_no_target(bad):
    with pytest.raises(ValueError, match=r"y\[2\] is (nan|inf|-inf)"):
        tt.CARTRegressor().fit(X, [1, 2, bad, 3, 4, 5])


def test_wrong_kind_of_target():
    with pytest.raises(ValueError, match=r"y must hold numbers.*'a'"):
        tt.CARTRegressor().fit(X, list("abcdef"))
    with pytest.raises(ValueError, match=r"continuous"):
        tt.CARTClassifier().fit(X, [0.5, 1.5, 0.5, 0.25, 1.5, 0.5])
    with pytest.raises(ValueError, match=r"Complex"):
        tt.CARTRegressor().fit(X, np.array(NUMBERS) * 1j)


@pytest.mark.parametrize("y", [[-1, 1, 2, 3, 4, 5], [0] * 6])
def test_poisson_needs_counts(y):
    with pytest.raises(ValueError, match=r"poisson.*0 or greater.*above 0"):
        tt.CARTRegressor(criterion="poisson").fit(X, y)


def test_binomial_is_for_two_classes():
    with pytest.raises(ValueError, match=r"binomial.*two classes.*3.*chi_square"):
        tt.CARTClassifier(criterion="binomial").fit(X, [0, 1, 2, 0, 1, 2])


# ---- weights


@pytest.mark.parametrize(
    "weight, message",
    [
        ([1, 1, -2, 1, 1, 1], "[Nn]egative.*row 2.*-2"),
        ([0] * 6, "zero for every row"),
        ([1, np.nan, 1, 1, 1, 1], "NaN or infinity"),
        ([1, np.inf, 1, 1, 1, 1], "NaN or infinity"),
        ([1, 1], r"\(2,\).*\(6,\)"),
        ([[1] * 6], "1D"),
    ],
    ids=str,
)
def test_weights(cls_y, weight, message):
    cls, y = cls_y
    with pytest.raises(ValueError, match=message):
        cls().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("weight", [np.full(6, 1e308), np.array([1e308, 1, 1, 1, 1, 1e308])], ids=str)
def test_weights_whose_sum_overflows(cls_y, weight):
    """Refused, or right: never a NaN out of it."""
    cls, y = cls_y
    try:
        model = cls().fit(X, y, sample_weight=weight)
    except ValueError as error:
        assert "sample_weight" in str(error)
    else:
        assert np.isfinite(model.tree_.values).all()
        assert np.isfinite(model.tree_.impurity).all()


@pytest.mark.parametrize(
    "weight, message",
    [
        ("even", "class_weight.*'balanced'.*'even'"),
        ({5: 1.0}, r"class_weight names 5.*\[0, 1\]"),
        ({0: -1.0}, "class_weight.*negative"),
        ({0: 0.0, 1: 0.0}, "class_weight|weight.*zero"),
        ({0: float("nan")}, "class_weight"),
        ({0: float("inf")}, "class_weight"),
        ({0: "much"}, "class_weight.*'much'"),
    ],
    ids=str,
)
def test_class_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        tt.CARTClassifier(class_weight=weight).fit(X, Y)


def test_weights_that_cancel():
    """Rows of class 1 weigh nothing by sample_weight, those of class 0 nothing by class_weight."""
    with pytest.raises(ValueError, match=r"weight"):
        tt.CARTClassifier(class_weight={0: 0.0}).fit(X, Y, sample_weight=np.array(Y) == 0)


# ---- parameters

PARAMETERS = [
    ("max_depth", 0, "whole number of at least 1 or None; got 0"),
    ("max_depth", -3, "got -3"),
    ("max_depth", 2.5, "got 2.5"),
    ("max_depth", True, "got True"),
    ("max_depth", "deep", "got 'deep'"),
    ("min_samples_split", 1, "at least 2"),
    ("min_samples_split", 1.5, "got 1.5"),
    ("min_samples_split", 0.0, "got 0.0"),
    ("min_samples_leaf", 0, "at least 1"),
    ("min_samples_leaf", float("nan"), "got nan"),
    ("min_samples_leaf", None, "got None"),
    ("min_weight_fraction_leaf", 0.6, "between 0 and 0.5"),
    ("min_weight_fraction_leaf", -0.1, "got -0.1"),
    ("min_impurity_decrease", -1, "at least 0"),
    ("min_impurity_decrease", float("nan"), "got nan"),
    ("min_impurity_split", -0.5, "at least 0"),
    ("max_leaf_nodes", 1, "at least 2 or None"),
    ("max_leaf_nodes", 3.0, "got 3.0"),
    ("max_features", 0, "got 0"),
    ("max_features", 1.5, "got 1.5"),
    ("max_features", "all", "'sqrt', 'log2'.*'all'"),
    ("splitter", "worst", "'best', 'random'.*'worst'"),
    ("missing", "ignore", "'learnt', 'majority', 'error'.*'ignore'"),
    ("max_categories", 1, "between 2 and 24; got 1"),
    ("max_categories", 25, "between 2 and 24; got 25"),
    ("ccp_alpha", -0.1, "at least 0"),
    ("ccp_alpha", "x", "got 'x'"),
    ("n_jobs", 0, "other than 0"),
    ("n_jobs", 1.5, "got 1.5"),
    ("monotonic_cst", [1], r"shape \(1,\).*2 features"),
    ("monotonic_cst", [2, 0], "-1, 0 or 1"),
    ("monotonic_cst", {"weight": 1}, "'weight'.*not a column"),
    ("categorical_features", ["weight"], "'weight'.*not a column"),
    ("categorical_features", [7], "7.*not a column"),
    ("categorical_features", [True], "marks 1 columns, X has 2"),
    ("categorical_features", "all", "from_dtype.*'all'"),
]


@pytest.mark.parametrize("name, value, message", PARAMETERS, ids=[f"{n}={v}" for n, v, _ in PARAMETERS])
def test_parameters(cls_y, name, value, message):
    cls, y = cls_y
    with pytest.raises(ValueError, match=rf"(?s){name}.*{message}|{message}") as caught:
        cls(**{name: value}).fit(FRAME, y)
    assert name in str(caught.value) or name == "monotonic_cst"


@pytest.mark.parametrize(
    "name",
    ["max_depth", "max_leaf_nodes", "min_samples_leaf", "min_samples_split", "n_jobs", "max_categories"],
)
def test_great_whole_numbers_are_no_limit(cls_y, name):
    """Any whole number is a valid limit, or is refused by name; it never fails inside."""
    cls, y = cls_y
    try:
        cls(**{name: 2**70}).fit(X, y)
    except ValueError as error:
        assert name in str(error)


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_random_state(seed):
    with pytest.raises(ValueError, match=r"[Ss]eed|random_state|RandomState"):
        tt.CARTClassifier(max_features=1, random_state=seed).fit(X, Y)


def test_criteria():
    with pytest.raises(ValueError, match=r"'mse' for regression.*squared_error, absolute_error, poisson"):
        tt.CARTRegressor(criterion="mse").fit(X, NUMBERS)
    with pytest.raises(
        ValueError, match=r"'squared_error' for classification.*gini, entropy.*weighted_delta"
    ):
        tt.CARTClassifier(criterion="squared_error").fit(X, Y)
    with pytest.raises(ValueError, match=r"None"):
        tt.CARTClassifier(criterion=None).fit(X, Y)


def test_monotonic_constraints():
    frame = FRAME.assign(city=list("abcabc"))
    with pytest.raises(ValueError, match=r"'city'.*no order"):
        tt.CARTRegressor(monotonic_cst={"city": 1}).fit(frame, NUMBERS)
    with pytest.raises(ValueError, match=r"not supported with multiclass"):
        tt.CARTClassifier(monotonic_cst=[1, 0]).fit(FRAME, [0, 1, 2, 0, 1, 2])


# ---- order of calls


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.predict(X),
        lambda m: m.apply(X),
        lambda m: m.decision_path(X),
        lambda m: m.get_depth(),
        lambda m: m.get_n_leaves(),
        lambda m: m.feature_importances_,
        lambda m: m.score(X, Y),
        lambda m: m.save("never-written.json"),
        tt.export.to_text,
    ],
)
def test_not_fitted(cls_y, call):
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        call(cls_y[0]())


def test_not_a_model():
    with pytest.raises((TypeError, ValueError), match=r"thetatree|tree_|estimator"):
        tt.export.to_text(42)
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(TypeError, match=r"thetatree.*DecisionTreeClassifier"):
        tt.export.to_text(DecisionTreeClassifier().fit(X, Y))


def test_lazy_frames_are_refused():
    with pytest.raises((TypeError, ValueError)):
        tt.CARTClassifier().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])
