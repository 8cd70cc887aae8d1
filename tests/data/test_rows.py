"""Whatever table holds the values, the tree is the same, and any kind may be predicted on."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import thetatree as tt

N = 120


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (N, 4)).astype(np.float64)
    X[:, 3] = rng.integers(0, 2, N)
    y = (X[:, 0] + X[:, 1] * X[:, 3] + rng.normal(size=N) > 8).astype(int)
    return X, y


@pytest.fixture(scope="module")
def plain(numbers):
    return tt.CARTClassifier().fit(*numbers)


def same_tree(a, b):
    """Equal but for the names of the features and the last digits of scores (sums in another order)."""
    a, b = getattr(a, "tree_", a), getattr(b, "tree_", b)
    assert [(f.kind, f.labels, f.gaps) for f in a.features] == [
        (f.kind, f.labels, f.gaps) for f in b.features
    ]
    mine, theirs = a.arrays(), b.arrays()
    for name in mine:
        same = np.allclose if name in ("score", "impurity_decrease") else np.array_equal
        exact = {"rtol": 1e-12, "atol": 1e-12} if same is np.allclose else {}
        assert mine[name].shape == theirs[name].shape
        assert same(mine[name], theirs[name], equal_nan=True, **exact), name


def mixed(seed=0, n=N, gaps=True):
    """Plain Python lists by column: number, whole, flag, text; gaps are None."""
    rng = np.random.default_rng(seed)
    columns = {
        "number": [round(v, 3) for v in rng.normal(size=n).tolist()],
        "whole": rng.integers(0, 6, n).tolist(),
        "flag": (rng.random(n) < 0.5).tolist(),
        "text": rng.choice(["red", "green", "blue", "grey"], n).tolist(),
    }
    y = [
        int(a + b + (t in ("red", "grey")) > 1)
        for a, b, t in zip(*[columns[c] for c in ("number", "flag", "text")], strict=True)
    ]
    if gaps:
        for values in columns.values():
            for i in np.flatnonzero(rng.random(n) < 0.15):
                values[int(i)] = None
    return columns, y


def as_pandas_nullable(columns):
    types = {"number": "Float64", "whole": "Int64", "flag": "boolean", "text": "string"}
    return pd.DataFrame({name: pd.array(v, dtype=types[name]) for name, v in columns.items()})


def as_pandas_plain(columns):
    frame = pd.DataFrame({"number": pd.Series(columns["number"], dtype=float)})
    frame["whole"] = pd.Series(columns["whole"], dtype=float)
    frame["flag"] = pd.Series(columns["flag"], dtype=object)
    frame["text"] = pd.Series(columns["text"], dtype=object)
    return frame


def as_pandas_category(columns):
    return as_pandas_plain(columns).assign(text=pd.Categorical(columns["text"]))


def as_pandas_arrow(columns):
    types = {"number": pa.float64(), "whole": pa.int64(), "flag": pa.bool_(), "text": pa.string()}
    return pd.DataFrame({name: pd.array(v, dtype=pd.ArrowDtype(types[name])) for name, v in columns.items()})


def as_polars(columns):
    return pl.DataFrame(columns)


def as_polars_categorical(columns):
    return pl.DataFrame(columns).with_columns(pl.col("text").cast(pl.Categorical))


def as_pyarrow(columns):
    return pa.table(columns)


def as_pyarrow_dictionary(columns):
    table = pa.table(columns)
    return table.set_column(3, "text", table["text"].dictionary_encode())


def as_pyarrow_chunked(columns):
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 50), table.slice(50)])


def as_numpy_object(columns):
    return np.array(list(columns.values()), dtype=object).T


FRAMES = [
    as_pandas_nullable,
    as_pandas_plain,
    as_pandas_category,
    as_pandas_arrow,
    as_polars,
    as_polars_categorical,
    as_pyarrow,
    as_pyarrow_dictionary,
    as_pyarrow_chunked,
]


# ---- numbers


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "longdouble",
        "object",
        ">f8",
        ">i4",
    ],
)
def test_number_types(numbers, plain, dtype):
    X, y = numbers
    table = X.astype(dtype)
    model = tt.CARTClassifier().fit(table, y)
    same_tree(model, plain)
    assert (model.apply(table) == plain.apply(X)).all()
    assert (plain.apply(table) == plain.apply(X)).all()


def test_layouts(numbers, plain):
    X, y = numbers
    wide = np.zeros((2 * N, 8))
    wide[::2, ::2] = X
    tables = {
        "fortran": np.asfortranarray(X),
        "strided": wide[::2, ::2],
        "reversed": X[::-1][::-1],
        "negative stride": np.ascontiguousarray(X[::-1])[::-1],
        "column slice": np.hstack([X, X])[:, :4],
        "list": X.tolist(),
        "read-only": X.copy(),
        "unaligned": np.frombuffer(b"\0" + X.tobytes(), dtype=np.float64, offset=1).reshape(X.shape),
    }
    tables["read-only"].flags.writeable = False
    for name, table in tables.items():
        model = tt.CARTClassifier().fit(table, y)
        same_tree(model, plain)
        assert (plain.apply(table) == plain.apply(X)).all(), name


def test_frames_of_numbers(numbers, plain):
    X, y = numbers
    names = list("abcd")
    columns = dict(zip(names, X.T, strict=True))
    frames = [
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X.astype(np.float32), columns=names),
        pd.DataFrame(X, columns=names).astype("Int64"),
        pd.DataFrame(X, columns=names).astype({"a": "int8", "b": "float32", "c": "uint16"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns).with_columns(pl.col("a").cast(pl.Int8), pl.col("b").cast(pl.Float32)),
        pl.DataFrame(columns).with_columns(pl.col("a").cast(pl.Decimal(10, 2))),
        pa.table(columns),
    ]
    for frame in frames:
        model = tt.CARTClassifier().fit(frame, y)
        same_tree(model, plain)
        assert model.feature_names_in_.tolist() == names
        for other in frames:
            assert (model.apply(other) == plain.apply(X)).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    "values", [[1.0, 2.0, 3.0], [1, 2, 3], [True, False, True], ["a", "b", "a"]], ids=str
)
def test_a_single_column(frame, values):
    model = tt.CARTClassifier().fit(frame({"only": values}), [0, 1, 0])
    assert model.predict(frame({"only": values})).tolist() == [0, 1, 0]


def test_missing_numbers(numbers):
    X, y = numbers
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    plain = tt.CARTClassifier().fit(X, y)
    names = list("abcd")
    none = np.where(np.isnan(X), None, X)
    tables = [
        X.astype(np.float32),
        none,
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X, columns=names).astype("Int64"),
        pd.DataFrame(X, columns=names).astype("Float64"),
        pl.DataFrame(dict(zip(names, none.T.tolist(), strict=True))),
        pl.DataFrame(dict(zip(names, X.T, strict=True))),
        pa.table(dict(zip(names, [pa.array(c, type=pa.int32()) for c in none.T.tolist()], strict=True))),
    ]
    for table in tables:
        model = tt.CARTClassifier().fit(table, y)
        same_tree(model, plain)
        assert (model.apply(table) == plain.apply(X)).all()


# ---- flags, categories, mixtures


def test_flags():
    rng = np.random.default_rng(0)
    X = rng.random((N, 70)) < 0.4
    y = X[:, 0] ^ X[:, 69]
    plain = tt.CARTClassifier(max_depth=4).fit(X, y)
    assert {f.kind for f in plain.tree_.features} == {"flag"}
    names = [f"f{j}" for j in range(70)]
    for table in (
        np.asfortranarray(X),
        X.astype(object),
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X, columns=names).astype("boolean"),
        pd.DataFrame(X, columns=names).astype(object),
        pl.DataFrame(dict(zip(names, X.T, strict=True))),
        pa.table(dict(zip(names, X.T, strict=True))),
    ):
        model = tt.CARTClassifier(max_depth=4).fit(table, y)
        same_tree(model, plain)
        assert (model.apply(table) == plain.apply(X)).all()
    assert (plain.apply(X.astype(float)) == plain.apply(X)).all()
    numbers = tt.CARTClassifier(max_depth=4).fit(X.astype(float), y)
    assert (numbers.predict(X.astype(int)) == numbers.predict(X)).all()


def test_flags_with_gaps():
    values = [True, False, None, True, None, False] * 10
    y = [1 if v is None else int(v) for v in values]
    tables = [
        np.array([values], dtype=object).T,
        pd.DataFrame({"x0": pd.array(values, dtype="boolean")}),
        pd.DataFrame({"x0": pd.Series(values, dtype=object)}),
        pl.DataFrame({"x0": values, "other": [1] * 60}),
        pa.table({"x0": values}),
    ]
    for table in tables:
        model = tt.CARTClassifier().fit(table, y)
        assert model.tree_.features[0].kind == "flag"
        assert model.tree_.features[0].gaps
        assert model.predict(table).tolist() == y
    assert tt.CARTClassifier().fit(tables[0], y).predict([[1], [0], [-1], [np.nan]]).tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("fit_on", FRAMES, ids=lambda f: f.__name__)
def test_mixed_frames(fit_on):
    for gaps in (False, True):
        columns, y = mixed(gaps=gaps)
        plain = tt.CARTClassifier().fit(as_polars(columns), y)
        model = tt.CARTClassifier().fit(fit_on(columns), y)
        same_tree(model, plain)
        assert model.feature_names_in_.tolist() == list(columns)


@pytest.mark.parametrize("predict_on", FRAMES, ids=lambda f: f.__name__)
def test_fit_on_one_kind_predict_on_another(predict_on):
    columns, y = mixed()
    new, _ = mixed(seed=1)
    new["text"][:5] = ["violet"] * 5
    model = tt.CARTClassifier().fit(as_pyarrow(columns), y)
    expected = model.apply(as_pyarrow(new))
    assert (model.apply(predict_on(new)) == expected).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names
        assert (model.apply(as_numpy_object(new)) == expected).all()
    objects = tt.CARTClassifier().fit(as_numpy_object(columns), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (objects.apply(predict_on(new)) == expected).all()


def test_mixed_object_array():
    columns, y = mixed()
    model = tt.CARTClassifier().fit(as_numpy_object(columns), y)
    assert [f.kind for f in model.tree_.features] == ["number", "number", "flag", "category"]
    same_tree(model, tt.CARTClassifier().fit(as_polars(columns), y))


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA], ids=repr)
def test_every_sign_of_a_missing_value(gap):
    """None, NaN and pandas' NA are one and the same, in object columns too."""
    y = [0, 1, 0, 1]
    words = ["a", gap, "a", gap]
    numbers = [1.0, gap, 1.0, gap]
    flags = [True, gap, True, gap]
    for values, kind in ((words, "category"), (numbers, "number"), (flags, "flag")):
        array = np.empty((4, 1), dtype=object)
        array[:, 0] = values
        model = tt.CARTClassifier().fit(array, y)
        assert model.tree_.features[0].kind == kind
        assert model.predict(array).tolist() == y
        if kind != "number":  # object columns of a frame are categories
            frame = pd.DataFrame({"a": pd.Series(values, dtype=object), "b": 1})
            model = tt.CARTClassifier().fit(frame, y)
            assert model.tree_.features[0].kind == kind
            assert model.tree_.features[0].gaps
            assert model.predict(frame).tolist() == y


def test_category_labels_are_matched_by_value():
    train = pd.DataFrame({"c": pd.Categorical(["x", "y", "z", "x"], categories=["z", "y", "x", "w"])})
    model = tt.CARTClassifier().fit(train, [0, 1, 1, 0])
    assert model.tree_.features[0].labels == ("x", "y", "z")
    other = pd.DataFrame({"c": pd.Categorical(["z", "x"], categories=["x", "z"])})
    assert model.predict(other).tolist() == [1, 0]
    assert model.predict(pl.DataFrame({"c": ["z", "x"], "d": [0, 0]}).drop("d")).tolist() == [1, 0]


def test_ordered_types_keep_their_order():
    sizes = ["small", "medium", "large"]
    enum = pl.DataFrame(
        {"s": pl.Series(["large", "small", "medium"], dtype=pl.Enum(sizes)), "one": [1, 1, 1]}
    )
    ordered = pd.DataFrame(
        {"s": pd.Categorical(["large", "small", "medium"], categories=sizes, ordered=True)}
    )
    for frame in (enum, ordered):
        assert tt.CARTClassifier().fit(frame, [0, 1, 2]).tree_.features[0].labels == tuple(sizes)


def test_labels_that_are_numbers():
    whole = pd.DataFrame({"c": pd.Categorical([10, 9, 100, 9])})
    model = tt.CARTClassifier().fit(whole, [0, 1, 0, 1])
    assert model.tree_.features[0].labels == (9, 10, 100)
    assert model.predict(pd.DataFrame({"c": [9, 10]})).tolist() == [1, 0]
    assert model.predict(pd.DataFrame({"c": [9.0, 10.0]})).tolist() == [1, 0]
    text = tt.CARTClassifier().fit(pd.DataFrame({"c": ["9", "10", "9", "9"]}), [0, 1, 0, 0])
    # The number 10 is not the text "10": it is a category never seen.
    assert (text.apply(pd.DataFrame({"c": [10]})) == text.apply(pd.DataFrame({"c": ["?"]}))).all()


def test_mixed_labels_in_one_column():
    values = ["a", 1, 2.5, True, "1", None] * 5
    frame = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    y = [0, 1, 0, 1, 0, 1] * 5
    model = tt.CARTClassifier().fit(frame, y)
    assert set(model.tree_.features[0].labels) == {"a", 1, 2.5, "1"}  # True is 1
    assert model.predict(frame).tolist() == y


def test_labels_of_great_numbers():
    values = [10**400, 2, "x", 10**400]
    model = tt.CARTClassifier().fit(pd.DataFrame({"c": pd.Series(values, dtype=object)}), [0, 1, 1, 0])
    assert model.score(pd.DataFrame({"c": pd.Series(values, dtype=object)}), [0, 1, 1, 0]) == 1


@pytest.mark.parametrize("values", [[None] * 4, [float("nan")] * 4], ids=["None", "NaN"])
def test_columns_that_are_all_missing(values):
    y = [0, 1, 0, 1]
    tables = [
        pd.DataFrame({"gone": values, "b": y}),
        pl.DataFrame({"gone": values, "b": y}),
        pa.table({"gone": values, "b": y}),
        np.array([values, y], dtype=object).T,
    ]
    for table in tables:
        assert tt.CARTClassifier().fit(table, y).predict(table).tolist() == y


# ---- which columns are categories


def test_categorical_features():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"code": rng.integers(0, 5, N), "x": rng.normal(size=N), "flag": rng.random(N) < 0.5}
    )
    y = frame["code"].isin([0, 3]).to_numpy()
    by_name = tt.CARTClassifier(categorical_features=["code"]).fit(frame, y)
    assert [f.kind for f in by_name.tree_.features] == ["category", "number", "flag"]
    assert by_name.get_depth() == 1
    assert [str(r) for r in by_name.tree_.rules()] == ["code in {1, 2, 4}", "code not in {1, 2, 4}"]
    for given in ([0], np.array([0]), [True, False, False], np.array([True, False, False]), ("code",)):
        model = tt.CARTClassifier(categorical_features=given).fit(frame, y)
        assert model.tree_ == by_name.tree_
        assert (model.predict(pl.from_pandas(frame)) == y).all()
    array = frame.to_numpy(dtype=float)
    model = tt.CARTClassifier(categorical_features=[0]).fit(array, y)
    assert [f.kind for f in model.tree_.features] == ["category", "number", "number"]
    assert (model.predict(array) == y).all()
    array[3, 0] = np.nan
    assert tt.CARTClassifier(categorical_features=[0]).fit(array, y).tree_.features[0].labels == (
        0,
        1,
        2,
        3,
        4,
    )
    none = tt.CARTClassifier(categorical_features=[]).fit(frame, y)
    assert [f.kind for f in none.tree_.features] == ["number", "number", "flag"]
    flag = tt.CARTClassifier(categorical_features=["flag"]).fit(frame, frame["flag"])
    assert flag.tree_.features[2].labels == (False, True)
    assert flag.score(frame, frame["flag"]) == 1


@pytest.mark.parametrize("given", [None, []], ids=str)
def test_text_that_is_no_category_is_refused(given):
    for table in (pd.DataFrame({"word": ["a", "b"]}), pl.DataFrame({"word": ["a", "b"], "n": [1, 2]})):
        with pytest.raises(ValueError, match=r"'word'.*categorical_features"):
            tt.CARTClassifier(categorical_features=given).fit(table, [0, 1])
    with pytest.raises(ValueError, match=r"'x0'.*categorical_features"):
        tt.CARTClassifier(categorical_features=given).fit(np.array([["a"], ["b"]], dtype=object), [0, 1])


# ---- sparse


def sparse_problem(seed=0):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((N, 12)) < 0.25, rng.integers(-3, 5, (N, 12)), 0).astype(float)
    y = (dense[:, 0] + dense[:, 3] - dense[:, 7] + rng.normal(size=N) > 0).astype(int)
    return dense, y


@pytest.mark.parametrize(
    "kind",
    [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix],
    ids=lambda k: k.__name__,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int8, np.int64])
def test_sparse_is_dense(kind, dtype):
    dense, y = sparse_problem()
    table = kind(dense.astype(dtype))
    plain = tt.CARTClassifier().fit(dense, y)
    model = tt.CARTClassifier().fit(table, y)
    same_tree(model, plain)
    for m in (model, plain):
        for t in (table, dense):
            assert (m.apply(t) == plain.apply(dense)).all()


def test_sparse_regression_and_limits():
    dense, _ = sparse_problem(1)
    y = dense[:, 0] * 2 + dense[:, 4]
    for criterion in ("squared_error", "absolute_error"):
        a = tt.CARTRegressor(criterion=criterion, max_depth=4, min_samples_leaf=3).fit(dense, y)
        b = clone_fit(a, sp.csr_array(dense), y)
        same_tree(a, b)
    weight = np.random.default_rng(0).integers(0, 3, N).astype(float)
    a = tt.CARTRegressor().fit(dense, y, sample_weight=weight)
    same_tree(a, tt.CARTRegressor().fit(sp.csr_array(dense), y, sample_weight=weight))


def clone_fit(model, X, y):
    return type(model)(**model.get_params()).fit(X, y)


def test_sparse_oddities():
    dense, y = sparse_problem(2)
    plain = tt.CARTClassifier().fit(dense, y)
    wide = sp.csr_array(dense)
    wide.indices = wide.indices.astype(np.int64)
    wide.indptr = wide.indptr.astype(np.int64)
    coo = sp.coo_array(dense)
    # Explicit zeros, entries given twice (they add up), columns out of order.
    rows = np.concatenate([coo.coords[0], coo.coords[0], np.arange(N)])[::-1]
    columns = np.concatenate([coo.coords[1], coo.coords[1], np.full(N, 5)])[::-1]
    data = np.concatenate([coo.data / 2, coo.data / 2, np.zeros(N)])[::-1]
    by_row = np.argsort(rows, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=N))])
    twice = sp.csr_array((data[by_row], columns[by_row], start), shape=dense.shape)
    assert not twice.has_canonical_format
    for table in (wide, sp.coo_array((data, (rows, columns)), shape=dense.shape), twice):
        model = tt.CARTClassifier().fit(table, y)
        same_tree(model, plain)
        assert (plain.apply(table) == plain.apply(dense)).all()


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_a_sparse_matrix_is_left_as_it_is(kind):
    parts = np.array([1.0, 2, 3, 4]), np.array([2, 0, 0, 0]), np.array([0, 2, 4])
    table = kind(tuple(p.copy() for p in parts), shape=(2, 3))
    before = table.toarray()
    model = tt.CARTClassifier().fit(table, [0, 1])
    model.predict(table)
    for now, then in zip((table.data, table.indices, table.indptr), parts, strict=True):
        assert now.tolist() == then.tolist()
    assert (table.toarray() == before).all()


def test_sparse_missing_and_infinite_values():
    dense, y = sparse_problem(3)
    dense[::7, 2] = np.nan
    plain = tt.CARTClassifier().fit(dense, y)
    model = tt.CARTClassifier().fit(sp.csr_array(dense), y)
    same_tree(model, plain)
    assert (model.apply(sp.csc_array(dense)) == plain.apply(dense)).all()
    with pytest.raises(ValueError, match=r"'x2'.*missing"):
        tt.CARTClassifier(missing="error").fit(sp.csr_array(dense), y)
    full = np.nan_to_num(dense)
    strict = tt.CARTClassifier(missing="error").fit(sp.csr_array(full), y)
    with pytest.raises(ValueError, match=r"'x2'.*missing"):
        strict.predict(sp.csr_array(dense))
    full[4, 9] = np.inf
    for act in (lambda t: tt.CARTClassifier().fit(t, y), plain.predict):
        with pytest.raises(ValueError, match=r"infinity.*'x9'"):
            act(sp.csr_array(full))


def test_sparse_flags_and_categories():
    flags = sp.csr_array(np.eye(6, dtype=bool))
    model = tt.CARTClassifier().fit(flags, [0, 0, 0, 1, 1, 1])
    assert model.score(flags, [0, 0, 0, 1, 1, 1]) == 1.0
    on_text = tt.CARTClassifier().fit(pd.DataFrame({"c": ["a", "b"]}), [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"sparse"):
            on_text.predict(sp.csr_array(np.ones((2, 1))))


# ---- refusals


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(["2020-01-01", "2020-01-02", None]),
        pd.to_timedelta([1, 2, 3], unit="D"),
        pd.period_range("2020", periods=3, freq="D"),
        pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"], utc=True),
        np.array([1j, 2, 3]),
    ],
    ids=["datetime", "timedelta", "period", "zoned", "complex"],
)
def test_pandas_types_that_are_refused(column):
    frame = pd.DataFrame({"fine": [1, 2, 3], "odd": column})
    with pytest.raises(ValueError, match=r"column 'odd' .*convert"):
        tt.CARTClassifier().fit(frame, [0, 1, 0])
    model = tt.CARTClassifier().fit(pd.DataFrame({"fine": [1, 2, 3], "odd": [1, 2, 3]}), [0, 1, 0])
    with pytest.raises(ValueError, match=r"column 'odd' .*convert"):
        model.predict(frame)


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime, pl.Duration, pl.Time, pl.List(pl.Int64), pl.Binary])
def test_polars_types_that_are_refused(dtype):
    frame = pl.DataFrame({"fine": [1, 2], "odd": pl.Series([None, None], dtype=dtype)})
    with pytest.raises(ValueError, match=r"column 'odd' .*convert"):
        tt.CARTClassifier().fit(frame, [0, 1])


@pytest.mark.parametrize("dtype", ["datetime64[D]", "datetime64[ns]", "datetime64[us]", "timedelta64[ns]"])
def test_numpy_dates_are_refused(dtype):
    with pytest.raises((TypeError, ValueError), match=r"date|time"):
        tt.CARTClassifier().fit(np.array([[1], [2], [3]]).astype(dtype), [0, 1, 0])


def test_text_arrays():
    for dtype in ("U5", object, np.dtypes.StringDType()):
        X = np.array([["b", "x"], ["a", "x"], ["b", "y"]], dtype=dtype)
        model = tt.CARTClassifier().fit(X, [0, 1, 0])
        assert model.tree_.features[0].labels == ("a", "b")
        assert model.predict(X).tolist() == [0, 1, 0]


FRAME_MAKERS = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("frame", FRAME_MAKERS)
@pytest.mark.parametrize("names", [["a", "b"], ["x0", "x1"]], ids=str)
@pytest.mark.parametrize("part", ["predict", "tree_.apply"])
def test_columns_are_checked_by_name(frame, names, part):
    first, second = names
    values = [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
    model = tt.CARTClassifier().fit(frame(dict(zip(names, values, strict=True))), [0, 1, 0])
    for bad, named in (
        ({second: values[1], first: values[0]}, "order"),
        ({first: values[0]}, second),
        ({first: values[0], "other": values[1]}, "other"),
        ({first: values[0], second: values[1], "extra": values[0]}, "extra"),
    ):
        with pytest.raises(ValueError, match=named):
            (model.predict if part == "predict" else model.tree_.apply)(frame(bad))


@pytest.mark.parametrize("fit_frame", FRAME_MAKERS)
@pytest.mark.parametrize("frame", FRAME_MAKERS)
def test_columns_are_checked_after_loading(frame, fit_frame, tmp_path):
    model = tt.CARTClassifier().fit(fit_frame({"a": [1.0, 2, 3], "b": [3.0, 1, 2]}), [0, 1, 0])
    model.save(tmp_path / "m.json")
    again = tt.load(tmp_path / "m.json")
    assert again.predict(frame({"a": [1.0, 2], "b": [3.0, 1]})).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"order"):
        again.predict(frame({"b": [1.0], "a": [1.0]}))


def test_duplicate_columns_are_refused_by_name():
    X = np.ones((2, 3))
    frames = [
        pd.DataFrame(X, columns=["a", "twice", "twice"]),
        pa.Table.from_arrays([pa.array([1.0, 1.0])] * 3, names=["a", "twice", "twice"]),
    ]
    for frame in frames:
        with pytest.raises(ValueError, match=r"'?twice"):
            tt.CARTClassifier().fit(frame, [0, 1])


def test_names_and_no_names(numbers):
    X, y = numbers
    named = tt.CARTClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match=r"valid feature names"):
        assert (named.predict(X) == tt.CARTClassifier().fit(X, y).predict(X)).all()
    bare = tt.CARTClassifier().fit(X, y)
    assert not hasattr(bare, "feature_names_in_")
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        with pytest.warns(UserWarning, match=r"fitted without feature names"):
            assert (bare.predict(frame) == bare.predict(X)).all()
    unnamed = pd.DataFrame(X)
    assert (tt.CARTClassifier().fit(unnamed, y).predict(unnamed) == bare.predict(X)).all()


def test_kinds_are_checked_when_predicting():
    frame = pd.DataFrame({"age": [1.0, 2.0], "flag": [True, False]})
    model = tt.CARTClassifier().fit(frame, [0, 1])
    with pytest.raises(ValueError, match=r"'age' holds text.*number"):
        model.predict(frame.assign(age=["a", "b"]))
    with pytest.raises(ValueError, match=r"'flag' is a flag.*row 1 holds 7"):
        model.predict(frame.assign(flag=[1, 7]))
    with pytest.raises(ValueError, match=r"infinity.*'age'"):
        model.predict(frame.assign(age=[1.0, -np.inf]))
    assert (model.apply(frame.assign(age=[True, False])) == model.apply(frame.assign(age=[1, 0]))).all()


@pytest.mark.parametrize("order", ["C", "F", "frame", "object", "float32"])
def test_infinity_is_refused_by_column(order):
    X = np.random.default_rng(0).normal(size=(50, 4))
    model = tt.CARTClassifier().fit(X, X[:, 0] > 0)
    X[30, 2] = np.inf
    table = {
        "C": X,
        "F": np.asfortranarray(X),
        "frame": pd.DataFrame(X).rename(columns=lambda j: f"x{j}"),
        "object": X.astype(object),
        "float32": X.astype(np.float32)[:, :],
    }[order]
    for act in (lambda: tt.CARTClassifier().fit(table, np.arange(50) % 2), lambda: model.predict(table)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=r"infinity.*'x2'"):
                act()


def test_empty_tables_are_refused():
    for table in (
        np.empty((0, 3)),
        pd.DataFrame({"a": []}),
        pl.DataFrame({"a": [], "b": []}),
        sp.csr_array((0, 3)),
    ):
        with pytest.raises(ValueError, match=r"0 sample|minimum of 1"):
            tt.CARTClassifier().fit(table, [])
    for table in (np.empty((3, 0)), pd.DataFrame(index=[0, 1, 2]), sp.csr_array((3, 0))):
        with pytest.raises(ValueError, match=r"0 feature|minimum of 1"):
            tt.CARTClassifier().fit(table, [0, 1, 0])


def test_many_columns_of_many_kinds():
    """Flags, numbers and categories that alternate, beyond one word of packed bits."""
    rng = np.random.default_rng(0)
    frame = {}
    for j in range(150):
        frame[f"n{j}"] = rng.integers(0, 2, N) if j % 3 else rng.normal(size=N)
        if j % 2:
            frame[f"f{j}"] = rng.random(N) < 0.5
        if j % 25 == 0:
            frame[f"c{j}"] = rng.choice(["u", "v", "w"], N)
    frame = pd.DataFrame(frame)
    y = (frame["f77"] & (frame["c50"] == "u")).to_numpy() | (frame["n149"] > 0).to_numpy()
    model = tt.CARTClassifier().fit(frame, y)
    assert model.score(frame, y) == 1.0
    assert set(frame.columns[model.feature_importances_ > 0]) >= {"n149", "f77", "c50"}
    assert (model.apply(pl.from_pandas(frame)) == model.apply(frame)).all()
