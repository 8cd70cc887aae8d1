"""Model files: whole round trips, one that must load forever, and refusal of whatever was tampered with."""

import copy
import hashlib
import json
import math
import os
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from naive.models import as_estimator, random_model
from naive.mutations import mutate, mutated_bytes, seal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import thetatree as tt
from thetatree.export import model_file

GOLDEN = Path(__file__).parents[1] / "golden"


def frame(n=150, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": np.where(rng.random(n) < 0.3, np.nan, np.round(rng.gamma(2, 900, n), 2)),
            "member": rng.random(n) < 0.5,
            "city": rng.choice(["Århus", "Oslo", 'say "hi"', "\\back\nslash"], n),
            "code": pd.Categorical(rng.integers(-2, 3, n)),
        }
    )
    table.loc[rng.random(n) < 0.1, "city"] = None
    latent = table["age"] / 30 + table["member"] + table["city"].isin(["Oslo"]) + table["income"].isna()
    return table, latent.to_numpy() + rng.normal(size=n)


def round_trip(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    again = tt.load(path)
    assert type(again) is type(model)
    assert again.tree_ == model.tree_
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    if hasattr(model, "classes_"):
        assert again.classes_.dtype == model.classes_.dtype
        assert again.classes_.tolist() == model.classes_.tolist()
        assert again.n_classes_ == model.n_classes_
    assert type(model).load(path).tree_ == model.tree_
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert fitted - set(vars(again)) == set()
    return again


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "maybe"],
        ["é", "", "line\nbreak"],
        [0, 1, 2],
        [-(2**62), 0, 2**62],
        [0.0, 1.0, 2.0],
        [False, True, True],
        np.array([1, 2, 3], dtype=np.uint8),
        np.array(["a", "b", "c"], dtype=object),
    ],
    ids=str,
)
def test_labels(labels, tmp_path):
    X, latent = frame()
    codes = np.searchsorted(np.quantile(latent, [0.4, 0.7]), latent)
    model = tt.CARTClassifier(max_depth=4).fit(X, np.asarray(labels)[codes])
    again = round_trip(model, tmp_path)
    assert (again.predict(X) == model.predict(X)).all()
    assert again.predict(X).dtype == model.predict(X).dtype
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression(criterion, tmp_path):
    X, latent = frame()
    model = tt.CARTRegressor(criterion=criterion).fit(X, np.exp(latent / 3))
    again = round_trip(model, tmp_path)
    assert (again.predict(X) == model.predict(X)).all()
    again.fit(X, np.exp(latent / 3))
    assert again.tree_ == model.tree_


def test_trees_of_every_shape(tmp_path):
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    known = tt.CARTClassifier().fit(X, [0, 0, 1, 1])
    assert known.tree_.threshold[0] == math.inf
    stump = tt.CARTClassifier().fit([[1.0]], ["only"])
    odd = tt.CARTRegressor().fit([[5e-324], [1.7e308], [-0.1], [0.1 + 0.2]], [1e-150, 1e150, 1 / 3, -0.0])
    for model, table in ((known, X), (stump, [[2.0]]), (odd, [[0.0], [1.0], [-1.0]])):
        again = round_trip(model, tmp_path)
        assert (again.predict(table) == model.predict(table)).all()


@pytest.mark.parametrize(
    "y", [[-1e300, 1e300, 0.0], [1.7e308, -1.7e308, 1.0], [1e-320, 0.0, 5e-324]], ids=str
)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_what_is_fitted_can_be_saved_and_loaded(y, criterion, tmp_path):
    """A target at the ends of float64 is refused when fitting, or its file can be read."""
    try:
        model = tt.CARTRegressor(criterion=criterion).fit([[1], [2], [3]], y)
    except ValueError as error:
        assert "y" in str(error)
    else:
        assert model.predict([[1], [2], [3]]).tolist() == y
        round_trip(model, tmp_path)


def test_category_labels_of_every_type(tmp_path):
    values = ["a", 1, 2.5, True, "1", None, -7, math.inf, 1e300, 10**18] * 4
    X = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    y = np.arange(40) % 10
    model = tt.CARTClassifier().fit(X, y)
    again = round_trip(model, tmp_path)
    assert (again.predict(X) == model.predict(X)).all()
    assert [type(v) for v in again.tree_.features[0].labels] == [
        type(v) for v in model.tree_.features[0].labels
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        {"random_state": np.random.RandomState(0), "max_features": 2},
        {"random_state": 7, "splitter": "random"},
        {"max_depth": np.int64(3), "min_samples_leaf": np.int32(2), "ccp_alpha": np.float32(0.01)},
        {"class_weight": {"no": 1.5, "yes": np.float64(2)}},
        {"class_weight": "balanced", "min_samples_split": 0.1},
        {"monotonic_cst": {"age": 1, "income": -1}},
        {"monotonic_cst": np.array([1, 0, 0, 0, 0])},
        {"categorical_features": ["age", "city", "code"]},
        {"categorical_features": np.array([True, False, False, True, True])},
        {"categorical_features": (0, 3, 4)},
        {"max_features": "sqrt", "random_state": 1, "n_jobs": 1, "verbose": False},
        {"min_impurity_decrease": 1e-300},
    ],
    ids="-".join,
)
def test_parameters(parameters, tmp_path):
    X, latent = frame()
    y = np.where(latent > np.median(latent), "yes", "no")
    model = tt.CARTClassifier(**parameters).fit(X, y)
    again = round_trip(model, tmp_path)
    if not isinstance(parameters.get("random_state"), np.random.RandomState):
        assert again.fit(X, y).tree_ == model.tree_


def test_pruned_and_weighted(tmp_path):
    X, latent = frame()
    weight = np.random.default_rng(0).uniform(0.1, 3, 150)
    model = tt.CARTRegressor(ccp_alpha=0.01).fit(X, latent, sample_weight=weight)
    assert round_trip(model, tmp_path).tree_.weighted_n_node_samples[0] == pytest.approx(weight.sum())


def test_same_bytes_every_time(tmp_path):
    X, latent = frame()
    for name in ("a", "b"):
        tt.CARTRegressor(max_depth=4).fit(X, latent).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    tt.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()


# ---- writing


def test_the_wrong_class_is_refused(tmp_path):
    path = tmp_path / "m.json"
    tt.CARTClassifier().fit([[1], [2]], [0, 1]).save(path)
    with pytest.raises(ValueError, match=r"holds a CARTClassifier, not a CARTRegressor.*thetatree.load"):
        tt.CARTRegressor.load(path)


def test_only_what_can_be_read_back_is_saved(tmp_path):
    model = tt.CARTClassifier(class_weight={0: 1.0}).fit([[1], [2]], [0, 1])
    model.verbose = object()
    with pytest.raises(ValueError, match=r"verbose.*cannot be written"):
        model.save(tmp_path / "m.json")

    class Mine(tt.CARTClassifier):
        pass

    with pytest.raises(ValueError, match=r"a Mine cannot be saved"):
        Mine().fit([[1], [2]], [0, 1]).save(tmp_path / "m.json")
    with pytest.raises(NotFittedError):
        tt.CARTClassifier().save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failing_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    tt.CARTClassifier().fit([[1], [2]], [0, 1]).save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    for name in ("fsync", "replace", "rename"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            try:
                tt.CARTClassifier().fit([[1], [2], [3]], [0, 1, 2]).save(path)
            except OSError:
                assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["m.json"]
    with pytest.raises(OSError):
        tt.CARTClassifier().fit([[1], [2]], [0, 1]).save(tmp_path / "no such folder" / "m.json")


def test_permissions_are_those_of_a_new_file(tmp_path):
    tt.CARTClassifier().fit([[1], [2]], [0, 1]).save(tmp_path / "m.json")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "m.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


# ---- reading


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Documents of a few models: binary with everything, regression, one leaf."""
    X, latent = frame()
    y = np.array(["no", "yes", "maybe"])[np.searchsorted(np.quantile(latent, [0.4, 0.7]), latent)]
    path = tmp_path_factory.mktemp("models") / "m.json"
    out = []
    for model in (
        tt.CARTClassifier(max_depth=4, class_weight={"no": 2.0}).fit(X, y),
        tt.CARTRegressor(max_depth=3, monotonic_cst=[1, 0, 0, 0, 0]).fit(X, latent),
        tt.CARTClassifier().fit([[1.0]], [1]),
    ):
        model.save(path)
        out.append(json.loads(path.read_text()))
    return out


def write(document, path, right=True):
    if right:
        seal(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"3", b'"text"', b"\xff\xfe", b"{}", b'{"format": "other"}', b"[" * 100_000],
)
def test_files_that_are_no_model(content, tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"m.json is not a thetatree model"):
        tt.load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        tt.load(tmp_path / "none.json")


@pytest.mark.parametrize("version", [2, 10**6])
def test_future_versions_are_refused(documents, tmp_path, version):
    document = copy.deepcopy(documents[0])
    document["version"] = version
    write(document, tmp_path / "m.json")
    with pytest.raises(ValueError, match=rf"version {version}.*up to {model_file.VERSION}.*update thetatree"):
        tt.load(tmp_path / "m.json")


@pytest.mark.parametrize("version", [0, -1, 1.5, "1", None, True, [1]])
def test_versions_that_are_none(documents, tmp_path, version):
    document = copy.deepcopy(documents[0])
    document["version"] = version
    write(document, tmp_path / "m.json")
    with pytest.raises(ValueError, match=r"no valid version"):
        tt.load(tmp_path / "m.json")


def test_a_change_is_noticed(documents, tmp_path):
    document = copy.deepcopy(documents[0])
    document["model"]["tree"]["threshold"][0] += 1
    write(document, tmp_path / "m.json", right=False)
    with pytest.raises(ValueError, match=r"changed or damaged.*checksum"):
        tt.load(tmp_path / "m.json")


def test_mutated_bytes(documents, tmp_path):
    """A byte changed, dropped or doubled anywhere: refused, or the same model (a change of layout only)."""
    path = tmp_path / "m.json"
    chance = random.Random(0)
    for document in documents:
        write(document, path)
        whole = path.read_bytes()
        tree = tt.load(path).tree_
        for _ in range(600):
            path.write_bytes(mutated_bytes(whole, chance))
            try:
                again = tt.load(path)
            except ValueError:
                continue
            assert again.tree_ == tree


def use(model, n_features):
    """What a loaded model must survive: it says something, or refuses; it never crashes."""
    rows = np.full((3, n_features), np.nan, dtype=object)
    rows[0] = 1.0
    rows[1] = "Oslo"
    tree = model.tree_
    assert tree.node_count == len(tree.kind)
    tree.rules()
    tt.export.to_text(tree, max_depth=None)
    assert tree.subtree_end[0] == tree.node_count
    if n_features == 0:
        return
    try:
        leaves = tree.apply(rows)
    except ValueError:  # text where numbers are needed
        rows[1] = 0.0
        leaves = tree.apply(rows.astype(float))
    assert tree.is_leaf[leaves].all()


@pytest.mark.parametrize("seed", range(6))
def test_mutated_json_with_a_right_checksum(documents, tmp_path, seed):
    """Whoever can write the checksum can write a model, but only one that is one."""
    path = tmp_path / "m.json"
    chance = random.Random(seed)
    refused = 0
    for i in range(400):
        document = copy.deepcopy(documents[i % len(documents)])
        way = [mutate(document, chance) for _ in range(chance.choice([1, 1, 2]))]
        write(document, path)
        try:
            model = tt.load(path)
        except ValueError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"{way}: {type(error).__name__}: {error}") from error
        try:
            use(model, model.n_features_in_)
        except Exception as error:
            raise AssertionError(f"{way} loads, but: {type(error).__name__}: {error}") from error
    assert refused > 100


def small_tree(**arrays):
    """A document with a tree of five nodes on two numbers, some of its arrays replaced."""
    tree = {
        "kind": [1, 0, 1, 0, 0],
        "feature": [0, -2, 1, -2, -2],
        "threshold": [0.5, -2.0, 1.5, -2.0, -2.0],
        "child_start": [0, 2, 2, 4, 4, 4],
        "child": [1, 2, 3, 4],
        "category_start": [0] * 6,
        "category": [],
        "category_branch": [],
        "missing_branch": [0, -1, 1, -1, -1],
        "impurity": [1.0, 0.0, 0.5, 0.0, 0.0],
        "score": [1.0, "nan", 1.0, "nan", "nan"],
        "impurity_decrease": [0.1, 0.0, 0.1, 0.0, 0.0],
        "weighted_n_node_samples": [5.0, 2.0, 3.0, 1.0, 2.0],
        "n_node_samples": [5, 2, 3, 1, 2],
        "value": [2.0, 1.0, 3.0, 2.0, 4.0],
    }
    number = {"kind": "number", "labels": [], "gaps": False}
    return {
        "format": "thetatree-model",
        "version": 1,
        "model": {
            "estimator": "CARTRegressor",
            "parameters": {},
            "criterion": "squared_error",
            "classes": None,
            "named": False,
            "features": [{"name": "x0", **number}, {"name": "x1", **number}],
            "tree": {**tree, **arrays},
        },
    }


def test_the_small_tree_loads(tmp_path):
    write(small_tree(), tmp_path / "m.json")
    model = tt.load(tmp_path / "m.json")
    assert np.isnan(model.tree_.p_value).all()  # written before trees had p-values
    assert model.predict([[0, 0], [1, 1], [1, 2], [np.nan, 0], [1, np.nan]]).tolist() == [1, 2, 4, 1, 4]


@pytest.mark.parametrize(
    "arrays",
    [
        {"kind": [1, 0, 7, 0, 0]},
        {"kind": [0, 0, 1, 0, 0]},
        {"kind": [2, 0, 1, 0, 0]},
        {"kind": [3, 0, 1, 0, 0]},
        {"kind": [1.5, 0, 1, 0, 0]},
        {"feature": [2, -2, 1, -2, -2]},
        {"feature": [-1, -2, 1, -2, -2]},
        {"threshold": ["nan", -2.0, 1.5, -2.0, -2.0]},
        {"child": [1, 2, 3, 3]},
        {"child": [1, 2, 2, 4]},
        {"child": [2, 1, 3, 4]},
        {"child": [1, 3, 2, 4]},
        {"child": [1, 2, 3, 5]},
        {"child": [0, 2, 3, 4]},
        {"child_start": [0, 2, 2, 4, 4]},
        {"child_start": [0, 4, 2, 4, 4, 4]},
        {"child_start": [0, 1, 2, 4, 4, 4]},
        {"missing_branch": [2, -1, 1, -1, -1]},
        {"missing_branch": [-1, -1, 1, -1, -1]},
        {"category": [0], "category_branch": [0], "category_start": [0, 1, 1, 1, 1, 1]},
        {"value": [2.0, 1.0, 3.0, 2.0]},
        {"value": [2.0, "nan", 3.0, 2.0, 4.0]},
        {"impurity": ["nan"] * 5},
        {"impurity": [-1.0] * 5},
        {"p_value": [0.5, "nan", 1.5, "nan", "nan"]},
        {"p_value": [-0.1, "nan", 0.5, "nan", "nan"]},
        {"p_value": ["inf", "nan", 0.5, "nan", "nan"]},
        {"p_value": [0.5] * 4},
        {"weighted_n_node_samples": [0.0] * 5},
        {"weighted_n_node_samples": [-5.0, 2.0, 3.0, 1.0, 2.0]},
        {"weighted_n_node_samples": ["inf"] * 5},
        {"n_node_samples": [5.5, 2, 3, 1, 2]},
        {"n_node_samples": [-5, 2, 3, 1, 2]},
        {"n_node_samples": ["nan", 2, 3, 1, 2]},
        # Each child after its parent, each node once, but the subtrees are not contiguous.
        {"kind": [1, 1, 0, 0, 0], "feature": [0, 1, -2, -2, -2], "child": [1, 3, 2, 4],
         "child_start": [0, 2, 4, 4, 4, 4], "missing_branch": [0, 1, -1, -1, -1]},
    ],
    ids=str,
)  # fmt: skip
def test_trees_that_cannot_be(arrays, tmp_path):
    write(small_tree(**arrays), tmp_path / "m.json")
    with pytest.raises(ValueError, match=r"m.json does not hold a valid model"):
        tt.load(tmp_path / "m.json")


@pytest.mark.parametrize(
    "change",
    [
        {"classes": {"dtype": "<U99999999999", "labels": ["a"]}},
        {"classes": {"dtype": "<U999999999", "labels": ["a", "b"]}, "estimator": "CARTClassifier"},
        {"parameters": []},
        {"parameters": {"no such": 1}},
        {"parameters": {"max_depth": {"list": [{"list": []}]}, "bad": 1}},
        {"tree": []},
        {"tree": None},
        {"features": {}},
        {"features": [3, 4]},
        {"features": "xy"},
        {"estimator": "object"},
        {"estimator": ["CARTRegressor"]},
        {"criterion": "no such criterion"},
        {"criterion": None},
        {"classes": {"dtype": "<i8", "labels": [0, 0]}, "estimator": "CARTClassifier"},
    ],
    ids=str,
)
def test_models_that_cannot_be(change, tmp_path):
    document = small_tree()
    document["model"].update(change)
    write(document, tmp_path / "m.json")
    with pytest.raises(ValueError, match=r"m.json does not hold a valid model"):
        tt.load(tmp_path / "m.json")


@pytest.mark.parametrize("depth", [50, 150, 300, 450, 480, 1000, 5000])
def test_nesting_without_end(tmp_path, depth):
    """Deep JSON is refused as bad, whatever part of the reader meets its depth."""
    nested = '{"list":[' * depth + "1" + "]}" * depth
    document = small_tree()
    document["model"]["parameters"] = {"class_weight": "HERE"}
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":")).replace('"HERE"', nested)
    checksum = hashlib.sha256(text.encode()).hexdigest()
    path = tmp_path / "m.json"
    path.write_text(f'{{"format":"thetatree-model","version":1,"checksum":"{checksum}","model":{text}}}')
    with pytest.raises(ValueError, match=r"m.json"):
        tt.load(path)


# ---- forever


def golden_model():
    X = pd.DataFrame(
        {
            "age": [23, 61, 35, 48, 52, 29, 44, 67, 31, 58],
            "plan": pd.Categorical(["a", "b", "a", "c", None, "a", "b", "c", "a", "b"]),
            "member": [True, False, True, True, False, False, True, False, True, False],
            "spent": [1.5, np.nan, 2.25, 8.0, 9.5, np.nan, 4.0, 7.75, 3.0, np.nan],
        }
    )
    y = ["no", "yes", "no", "yes", "yes", "perhaps", "no", "yes", "no", "perhaps"]
    return tt.CARTClassifier(criterion="entropy", class_weight={"yes": 2.0}).fit(X, y), X


def test_a_file_of_version_1_loads_forever():
    """Never rewrite this file: it stands for every file that people have."""
    path = GOLDEN / "model_version_1.json"
    model, X = golden_model()
    if not path.exists() and os.environ.get("THETATREE_WRITE_GOLDEN"):
        model.save(path)
    again = tt.load(path)
    assert json.loads(path.read_text())["version"] == 1
    assert again.classes_.tolist() == ["no", "perhaps", "yes"]
    assert again.get_params()["class_weight"] == {"yes": 2.0}
    expected = ["no", "yes", "no", "yes", "yes", "perhaps", "no", "yes", "no", "perhaps"]
    assert again.predict(X).tolist() == expected
    assert [f.kind for f in again.tree_.features] == ["number", "category", "flag", "number"]
    assert again.tree_.rules() == model.tree_.rules()


def test_round_trip_of_random_models_of_every_kind(tmp_path):
    """Rows, sketches, AID, THAID, and trees by hand with every split: the same predictions from the file."""
    path = tmp_path / "m.json"
    for seed in range(int(os.environ.get("THETATREE_ROUND_TRIPS", "60"))):
        case = random_model(seed, rows=50)
        model = as_estimator(case.model)
        model.save(path)
        again = tt.load(path)
        assert again.tree_ == case.tree, case.name
        assert np.array_equal(again.apply(case.table), case.leaves), case.name
        assert again.predict(case.table).tolist() == case.predictions, case.name
        if case.shares is not None:
            assert np.array_equal(again.predict_proba(case.table), case.shares), case.name


def test_pickle_copy_and_joblib_of_random_models(tmp_path):
    for seed in range(20):
        case = random_model(seed, rows=20)
        model = as_estimator(case.model)
        joblib.dump(model, tmp_path / "m.joblib")
        for again in (
            pickle.loads(pickle.dumps(model)),
            copy.copy(model),
            copy.deepcopy(model),
            joblib.load(tmp_path / "m.joblib"),
            joblib.load(tmp_path / "m.joblib", mmap_mode=None),
        ):
            assert again.tree_ == case.tree
            assert again.predict(case.table).tolist() == case.predictions
        assert not hasattr(clone(model), "tree_")


def run_program(name, *arguments):
    program = Path(__file__).parent / name
    command = [sys.executable, "-W", "ignore", str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_mutations_of_every_kind_of_model():
    """The short form of `make prove-files`."""
    assert re.match(
        r'1500 mutations from 0: {"equal": \d+, "refused"', run_program("mutate_model_files.py", 1500)
    )


def test_killed_while_saving():
    """The short form of `make prove-files`."""
    assert "15 kills" in run_program("kill_saves.py", 15)


def test_files_of_earlier_layouts_load(documents, tmp_path):
    """The checksum is that of the model, whatever the order and spaces in the file."""
    path = tmp_path / "m.json"
    for document in documents:
        seal(document)
        texts = (json.dumps(document, indent=2), json.dumps(document, ensure_ascii=False))
        turned = json.dumps(dict(reversed(document.items())), sort_keys=False)
        for text in (*texts, turned):
            path.write_text(text, encoding="utf-8")
            again = tt.load(path)
            again.save(tmp_path / "again.json")
            assert tt.load(tmp_path / "again.json").tree_ == again.tree_


@pytest.mark.parametrize(
    ("way", "value", "message"),
    [
        (("classes", "labels"), ["no", "no", "yes"], "there twice"),
        (("classes", "dtype"), "<U1", "not of type"),
        (("classes", "dtype"), ",i8", "of type ',i8' are not read"),
        (("classes", "dtype"), "<U999999999", "are not read"),
        (("classes", "dtype"), ["<U5"], "are not read"),
        (("features", 0, "name"), 3, "a feature's name is text"),
        (("features", 3, "labels"), ["a", "b", "a", "c"], "has a label twice"),
        (("features", 0, "kind"), "category", "a threshold is on a feature that is no number"),
        (("features", 2, "kind"), "number", "a presence test is on a feature that is no flag"),
        (("features", 3, "kind"), "number", "categories are listed of a feature that has none"),
        (("tree", "value", 0), 2.0, "do not add up to 1"),
        (("tree", "value", 0), True, "does not hold numbers"),
        (("tree", "value", 0), 10**400, "not hold a valid model"),
    ],
    ids=str,
)
def test_what_would_predict_oddly_is_refused(tmp_path, way, value, message):
    rng = np.random.default_rng(1)
    n = 400
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
            "flag": rng.random(n) < 0.5,
            "city": rng.choice(["a", "b", "c", "d"], n),
        }
    )
    score = X.x + 2 * X.flag + 2 * X.city.isin(["a", "c"]) + rng.normal(size=n) / 4
    y = np.array(["maybe", "no", "yes"])[np.searchsorted([1, 3], score)]
    tt.CARTClassifier(max_depth=4).fit(X, y).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert {1, 2, 3} <= set(document["model"]["tree"]["kind"])
    holder = document["model"]
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = value
    write(document, tmp_path / "m.json")
    with pytest.raises(ValueError, match=message):
        tt.load(tmp_path / "m.json")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not_are_refused(documents, tmp_path, word):
    write(documents[1], tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    (tmp_path / "m.json").write_text(re.sub(r'"ccp_alpha": 0\.0', f'"ccp_alpha": {word}', text))
    with pytest.raises(ValueError, match=rf"not JSON \({word} is no number of JSON\)"):
        tt.load(tmp_path / "m.json")
