"""What people may rely on, written down: a change here is a change for them."""

import inspect
import subprocess
import sys

import pytest

import thetatree as tt

NAMES = [
    "AIDRegressor",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "SketchSet",
    "THAIDClassifier",
    "ThetaSketchDecisionTreeClassifier",
    "Tree",
    "__version__",
    "candidates",
    "criteria",
    "engine",
    "export",
    "judge",
    "load",
    "plot",
    "sketch",
]

SHARED = {
    "splitter": "best",
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "random_state": None,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "min_impurity_split": 0.0,
    "ccp_alpha": 0.0,
    "significance": None,
    "significance_test": "parametric",
    "n_permutations": 999,
    "pruning": None,
    "validation_fraction": 0.25,
    "ccp_folds": 10,
    "honest": None,
    "monotonic_cst": None,
    "categorical_features": "from_dtype",
    "max_categories": 10,
    "missing": "learnt",
    "n_jobs": None,
    "verbose": 0,
}
_NOT_IN_SURVEYS = ("splitter", "monotonic_cst")
_SURVEYS = {name: default for name, default in SHARED.items() if name not in _NOT_IN_SURVEYS}
_NOT_IN_AID = ("max_leaf_nodes", "max_categories")  # max_groups; one order of categories is enough
_NO_TEST_IN_C45 = ("significance", "significance_test", "n_permutations")
_NOT_IN_C45 = ("max_leaf_nodes", "max_categories", "honest", *_NO_TEST_IN_C45)
PARAMETERS = {
    "C45Classifier": {
        "criterion": "gain_ratio",
        "subsets": False,
        "binary_categories": False,
        "mdl": True,
        "min_gain_ratio": 0.0,
        "once_per_path": False,
        "collapse": True,
        "confidence": 0.25,
        "limits": "release8",
        "raising": True,
        "class_weight": None,
        **{name: default for name, default in _SURVEYS.items() if name not in _NOT_IN_C45},
        "min_samples_leaf": 2,
        "missing": "fractional",
        "pruning": "pessimistic",
    },
    "AIDRegressor": {
        "min_improvement": 0.0,
        "p1": 0.0,
        "p2": 0.0,
        "max_groups": None,
        "monotonic": None,
        "ranks": None,
        "force": None,
        "trace": True,
        **{name: default for name, default in _SURVEYS.items() if name not in _NOT_IN_AID},
    },
    "THAIDClassifier": {
        "criterion": "theta",
        "min_score": 0.0,
        "min_gain": 0.0,
        "class_weight": None,
        **_SURVEYS,
        "significance": "auto",
    },
    "CARTClassifier": {"criterion": "gini", "class_weight": None, **SHARED, "significance": "auto"},
    "CARTRegressor": {"criterion": "squared_error", **SHARED},
}
METHODS = [
    "fit",
    "predict",
    "apply",
    "decision_path",
    "score",
    "get_depth",
    "get_n_leaves",
    "save",
    "load",
    "report",
    "cost_complexity_pruning_path",
    "get_params",
    "set_params",
    "feature_importances_",
]
TREE = [
    "features",
    "classes",
    "criterion",
    "kind",
    "feature",
    "threshold",
    "child_start",
    "child",
    "category_start",
    "category",
    "category_branch",
    "missing_branch",
    "impurity",
    "score",
    "impurity_decrease",
    "trace",
    "fractional",
    "heaviest_branch",
    "undivided",
    "weighted_n_node_samples",
    "n_node_samples",
    "values",
    "value",
    "node_count",
    "capacity",
    "n_features",
    "n_outputs",
    "n_classes",
    "max_n_classes",
    "children_left",
    "children_right",
    "is_leaf",
    "n_leaves",
    "parent",
    "depth",
    "max_depth",
    "subtree_end",
    "apply",
    "decision_path",
    "rules",
    "to_frame",
    "compute_feature_importances",
    "prune",
    "report",
    "arrays",
    "from_arrays",
]


def test_the_public_names():
    assert sorted(tt.__all__) == NAMES
    assert sorted(dir(tt)) == NAMES
    for name in NAMES:
        assert getattr(tt, name) is not None
    names = "DecisionStrategy binomial_p compare cross_validate evaluate importance search segments"
    names += " split_confidence upper_error wilson"
    assert tt.judge.__all__ == names.split()
    targets = "c dot java json onnx python sklearn sql text"
    assert tt.export.__all__ == [f"to_{name}" for name in targets.split()]
    for name in ("impurity", "score", "partitions"):
        assert callable(getattr(tt.criteria, name))
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'"):
        _ = tt.nonsense


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_parameters(name):
    cls = getattr(tt, name)
    assert cls().get_params() == PARAMETERS[name]
    parameters = inspect.signature(cls).parameters.values()
    assert {p.kind for p in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    for method in METHODS:
        assert hasattr(cls, method), method
    for parameter in PARAMETERS[name]:
        assert f"    {parameter} :" in cls.__doc__, f"{parameter} is not documented"


def test_the_classifiers_own():
    for method in ("predict_proba", "predict_log_proba"):
        assert hasattr(tt.CARTClassifier, method)
        assert not hasattr(tt.CARTRegressor, method)


def test_the_printouts():
    for method in ("summary", "summary_frame"):
        assert hasattr(tt.AIDRegressor, method)
        assert hasattr(tt.THAIDClassifier, method)
        assert hasattr(tt.C45Classifier, method)
    assert hasattr(tt.AIDRegressor, "trace_frame")


def test_fitted_attributes():
    model = tt.CARTClassifier().fit([[1], [2]], [0, 1])
    assert model.max_features_ == 1
    assert {n for n in vars(model) if n.endswith("_")} == {
        "classes_",
        "n_classes_",
        "n_features_in_",
        "n_outputs_",
        "tree_",
    }
    for name in TREE:
        assert hasattr(model.tree_, name), name
    assert tt.C45Classifier().fit([[1], [2]], [0, 1]).training_.pruned.nodes == 1


def test_everything_public_is_documented():
    for cls in (
        tt.AIDRegressor,
        tt.C45Classifier,
        tt.CARTClassifier,
        tt.CARTRegressor,
        tt.THAIDClassifier,
        tt.Tree,
    ):
        for name, member in inspect.getmembers(cls):
            if not name.startswith("_") and getattr(member, "__module__", "").startswith("thetatree"):
                assert inspect.getdoc(member), f"{cls.__name__}.{name}"


def test_the_import_is_light():
    program = (
        "import sys, thetatree; thetatree.__version__; dir(thetatree); "
        "heavy = ('sklearn', 'pandas', 'pyarrow', 'narwhals', 'scipy', 'numpy'); "
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert tt.__version__ == version("thetatree")


def test_the_package_says_that_it_is_typed():
    from pathlib import Path

    assert (Path(tt.__file__).parent / "py.typed").exists()
