import datasketches as ds
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naive import sketch as naive

from thetatree import _kernel
from thetatree.sketch import BuildError, edges
from thetatree.sketch.batches import ROWS
from thetatree.sketch.build import sketch
from thetatree.sketch.wire import write_images


def image_of(made, *where, absent=False):
    data = made.data
    wanted = (*where, None, None, None)[:3]
    for i in range(len(data.entries)):
        if data.row(i)[:3] == wanted:
            return write_images(data.column.take([i]))[0].as_py()
    raise KeyError(where)


def peer(keys, lg_k):
    one = ds.update_theta_sketch(lg_k)
    for key in keys:
        one.update(key)
    one.trim()
    return one.compact().serialize()


@pytest.mark.parametrize("kind", ["int", "text", "float"])
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 1000, 100_000])
def test_sketches_are_those_of_datasketches(kind, n):
    rng = np.random.default_rng(n)
    numbers = rng.integers(-(2**62), 2**62, n)
    keys = {"int": numbers, "text": [f"kéy-{i}" * int(1 + i % 5) for i in numbers], "float": numbers / 7.0}[
        kind
    ]
    dtype = {"int": pa.int64(), "text": pa.string(), "float": pa.float64()}[kind]
    table = pa.table({"id": pa.array(keys, dtype)})
    made = sketch(table, "id", lg_k=5)
    assert image_of(made) == peer([key.item() if hasattr(key, "item") else key for key in keys], 5)


def random_keys(rng, kind, n):
    """Keys with repeats, as a table's column and as the package takes them."""
    numbers = rng.integers(0, max(1, n // int(rng.integers(1, 5))), n) - n // 3
    if kind == "int":
        return pa.array(numbers, pa.int64()), numbers.tolist()
    if kind == "float":
        return pa.array(numbers / 7.0 + 0.25, pa.float64()), (numbers / 7.0 + 0.25).tolist()
    texts = ["né" * (i % 9) + f"{i}" for i in numbers.tolist()]
    return pa.array(texts, pa.string()), texts


@pytest.mark.parametrize("kind", ["int", "text", "float"])
@pytest.mark.parametrize("first", range(0, 170, 10))
def test_random_sets_of_keys_with_repeats(kind, first):
    for trial in range(first, first + 10):
        rng = np.random.default_rng(trial)
        lg_k = int(rng.integers(5, 9))
        k = 1 << lg_k
        n = int(rng.choice([1, 2, k - 1, k, k + 1, int(rng.integers(1, 3000))]))
        column, keys = random_keys(rng, kind, n)
        red = rng.random(n) < rng.random()
        made = sketch(pa.table({"id": column, "red": pa.array(red)}), "id", lg_k=lg_k)
        assert image_of(made) == peer(keys, lg_k)
        of_red = [key for key, is_red in zip(keys, red, strict=True) if is_red]
        assert image_of(made, None, "red", "1") == peer(of_red, lg_k)


def frame(n=5000, seed=0, keys=None):
    rng = np.random.default_rng(seed)
    ids = rng.permutation(n) if keys is None else rng.integers(0, keys, n)
    made = pd.DataFrame({"id": ids, "y": np.where(ids % 5 == 0, "yes", "no")})
    made["flag"] = pd.array(rng.choice([0, 1, None], n, p=[0.5, 0.3, 0.2]), dtype="Int8")
    made["bool"] = rng.random(n) < 0.01
    made["x"] = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    made["c"] = rng.choice(["a", "b", "c", "d", None], n, p=[0.6, 0.2, 0.1, 0.05, 0.05])
    return made


KINDS = {"flag": "flag", "bool": None, "x": None, "c": None}


def naive_set(rows, made, k):
    """Every sketch of a set, by plain Python sets."""
    hashes = np.array([naive.hash_key(int(key)) for key in rows["id"]], object)
    tests = {(None, None): np.ones(len(rows), bool)}
    for name in made.features:
        known = rows[name].notna().to_numpy()
        tests[name, None] = known
        for value in made.feature(name).values:
            kind = made.kinds[name]
            if kind == "threshold":
                holds = rows[name].to_numpy(float, na_value=np.nan) <= float(value[2:])
            else:
                holds = (
                    (rows[name].astype(str) == value).to_numpy()
                    if kind != "flag"
                    else (rows[name] == 1).fillna(False)
                )
            tests[name, value] = np.asarray(holds, bool) & known
    owners = {None: np.ones(len(rows), bool)} if made.form == "class_free" else {
        label: (rows["y"] == label).to_numpy() for label in made.classes
    }  # fmt: skip
    return {
        (label, *what): naive.image(naive.Sketch.of(hashes[inside & owned], k))
        for label, owned in owners.items()
        for what, inside in tests.items()
    }


@pytest.mark.parametrize("form", ["per_class", "class_free"])
@pytest.mark.parametrize("keys", [None, 700])
def test_every_sketch_of_a_set_is_the_naive_one(form, keys):
    rows = frame(keys=keys)
    made = sketch(rows, "id", "y", features=KINDS, lg_k=6, bins=6, form=form, conflicts="any")
    assert made.kinds == {
        "bool": "flag",
        "c": "multi" if keys else "category",
        "flag": "flag",
        "x": "threshold",
    }
    expected = naive_set(rows, made, 64)
    found = {made.data.row(i)[:3] for i in range(len(made))}
    if form == "class_free":
        assert found - set(expected) == {("no", None, None), ("yes", None, None)}
    for where in found & set(expected):
        assert image_of(made, *where) == expected[where], where
    for where in set(expected) - found:  # known sketches that would repeat the total
        assert where[2] is None
        assert expected[where] == expected[where[0], None, None]


def test_every_source_gives_the_same_set(tmp_path):
    rows = frame()
    expected = sketch(rows, "id", "y", features=KINDS, lg_k=6, bins=6)
    table = pa.Table.from_pandas(rows, preserve_index=False)
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=700)
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(3):
        pq.write_table(table.slice(i * 2000, 2000), folder / f"{i}.parquet")
    rows.to_csv(tmp_path / "all.csv", index=False)
    shuffled = rows.sample(frac=1, random_state=3)
    for data in (
        table,
        pl.from_arrow(table),
        tmp_path / "all.parquet",
        str(tmp_path / "all.csv"),
        folder,
        [shuffled[:100], shuffled[100:]],
        lambda: iter(table.to_batches(max_chunksize=333)),
    ):
        for n_jobs in (1, 2):
            made = sketch(data, "id", "y", features=KINDS, lg_k=6, bins=6, n_jobs=n_jobs)
            assert made == expected
    once = sketch(iter(table.to_batches(300)), "id", "y", lg_k=6, like=expected)
    assert once == expected
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(300))
    assert sketch(reader, "id", "y", lg_k=6, like=expected) == expected


def test_more_rows_than_a_batch():
    n = ROWS + 1000
    rows = pd.DataFrame({"id": np.arange(n), "f": np.arange(n) % 3 == 0, "y": np.arange(n) % 2})
    rows["late"] = np.where(np.arange(n) > ROWS + 10, np.nan, np.arange(n) % 4)
    rows["number"] = np.arange(n) % 70
    made = sketch(rows, "id", "y", lg_k=8)
    assert image_of(made, 0, "f", "1") == peer([i for i in range(0, n, 2) if i % 3 == 0], 8)
    assert image_of(made, 1, "late", None) == peer([i for i in range(1, n, 2) if i <= ROWS + 10], 8)
    for cut in made.edges["number"][::10]:
        assert image_of(made, 0, "number", f"<={cut:g}") == peer(
            [i for i in range(0, n, 2) if i % 70 <= cut], 8
        )
    assert made.classes == (0, 1)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 4095, 4096, 4097, 9000])
def test_flags_however_they_are_kept(n):
    """Bytes, and Arrow's bits from any position on, with missing values and with none."""
    rng = np.random.default_rng(n)
    skip, lg_k = int(rng.integers(0, 20)), 5
    ids, y = np.arange(n + skip), rng.integers(0, 3, n + skip)
    flags = {f"f{j}": rng.random(n + skip) < share for j, share in enumerate((0.9, 0.5, 0.02))}
    gaps = rng.random(n + skip) < 0.1
    columns = {"id": ids, "y": y, **{name: pa.array(flag) for name, flag in flags.items()}}
    columns["g"] = pa.array(flags["f1"], mask=gaps)
    table = pa.table(columns).slice(skip)
    made = sketch(table, "id", "y", lg_k=lg_k)
    frame = pd.DataFrame({"id": ids, "y": y, **flags})[skip:]
    assert sketch(frame, "id", "y", lg_k=lg_k) == made.select(["f0", "f1", "f2"])
    for label in np.unique(y[skip:]).tolist():
        own = (ids >= skip) & (y == label)
        for name, flag in flags.items():
            assert image_of(made, label, name, "1") == peer(ids[own & flag].tolist(), lg_k)
        assert image_of(made, label, "g", "1") == peer(ids[own & flags["f1"] & ~gaps].tolist(), lg_k)
        if gaps[skip:].any():
            assert image_of(made, label, "g", None) == peer(ids[own & ~gaps].tolist(), lg_k)


def test_levels_rise_as_hashes_fall():
    rng = np.random.default_rng(0)
    ends = np.array([1, 2, 3, 4, 5, 7, 8, 2**62 - 1, 2**62, 2**63 - 1], np.uint64)
    shifts = rng.integers(0, 62, 5000).astype(np.uint64)
    hashes = np.sort(np.append(ends, rng.integers(1, 2**63, 5000, dtype=np.uint64) >> shifts))
    hashes = hashes[hashes > 0]
    levels = _kernel.levels_of(hashes).astype(int)
    assert (np.diff(levels) <= 0).all()
    assert (levels[0], levels[-1]) == (251, 0)
    assert _kernel.levels_of(np.zeros(1, np.uint64)).tolist() == [0]
    octaves = np.log2(hashes.astype(float))
    assert (np.abs(levels - 4 * (63 - octaves)) < 1.5).all()


def test_bits_from_python_are_checked():
    samplers, ids = _kernel.Samplers(1, 8), np.zeros(1, np.int64)
    hashes, classes = np.arange(1, 11, dtype=np.uint64), np.zeros(10, np.int32)
    levels = _kernel.levels_of(hashes)
    samplers.add_bits(hashes, levels, classes, np.full(2, 255, np.uint8), 6, ids)
    assert len(samplers.finish()[0]) == 8
    for bits, offset in ((1, 0), (2, 7), (2, 17), (0, 0)):
        with pytest.raises(ValueError, match="fewer bits than keys"):
            samplers.add_bits(hashes, levels, classes, np.full(bits, 255, np.uint8), offset, ids)


def test_quantile_edges_and_given_edges():
    rows = pd.DataFrame({"id": range(1000), "x": np.arange(1000) % 100, "few": np.arange(1000) % 3, "one": 1})
    made = sketch(rows, "id", bins=4)
    assert made.edges == {"few": (0.0, 1.0), "x": (24.0, 49.0, 74.0)}
    assert "one" not in made.features
    assert sketch(rows, "id", features=["x"], edges={"x": [10, 20.5]}).feature("x").values == (
        "<=10",
        "<=20.5",
    )


def test_edges_do_not_depend_on_the_order_of_rows(monkeypatch):
    monkeypatch.setattr(edges, "SAMPLE", 50)
    rng = np.random.default_rng(0)
    ids, x = np.arange(2000), rng.normal(size=2000)
    hashes = np.array([naive.hash_key(int(key)) for key in ids], np.uint64)
    least = x[np.argsort(hashes)[:50]]
    for _ in range(5):
        order = rng.permutation(2000)
        sample = edges.EdgeSample(["x"])
        for part in np.array_split(order, 30):
            sample.add(hashes[part], [x[part]])
        assert list(sample.edges(10)["x"]) == sorted(least)[4:49:5]


def test_lists_are_sketched_for_their_own_class():
    table = pa.table({"id": [1, 2, 3], "y": ["a", "b", "b"], "tags": [["x"], ["x", "z"], ["z"]]})
    made = sketch(table, "id", "y")
    assert image_of(made, "b", "tags", "x") == peer([2], 12)
    assert image_of(made, "a", "tags", "z") == peer([], 12)
    assert image_of(made, "b", "tags", "z") == peer([2, 3], 12)


def test_rare_categories_become_other():
    rows = pd.DataFrame({"id": range(100), "c": ["a"] * 50 + ["b"] * 30 + ["c"] * 15 + ["d"] * 3 + ["e"] * 2})
    made = sketch(rows, "id", max_categories=2)
    assert made.feature("c").values == ("a", "b", "other")
    assert image_of(made, None, "c", "other") == peer(range(80, 100), 12)
    part = sketch(pd.DataFrame({"id": [500], "c": ["new"]}), "id", like=made)
    assert part.counts().query("value == 'other'")["estimate"].tolist() == [1]


def test_lists_are_multi_valued():
    table = pa.table({"id": [1, 2, 3, 4, 5], "tags": [["x", "y"], ["y"], [], None, ["y", None]]})
    made = sketch(table, "id")
    assert made.kinds == {"tags": "multi"}
    assert image_of(made, None, "tags", "x") == peer([1], 12)
    assert image_of(made, None, "tags", "y") == peer([1, 2, 5], 12)
    assert image_of(made, None, "tags", None) == peer([1, 2, 3, 5], 12)


def test_missing_is_not_absent():
    rows = pd.DataFrame(
        {"id": [1, 2, 3, 4], "f": pd.array([True, False, None, True], "boolean"), "y": [1, 1, 0, 0]}
    )
    made = sketch(rows, "id", "y")
    assert image_of(made, 1, "f", "1") == peer([1], 12)
    assert image_of(made, 0, "f", None) == peer([4], 12)
    assert image_of(made, 1, "f", None) == peer([1, 2], 12)


def test_whole_float_keys_are_warned_of(caplog):
    rows = pd.DataFrame({"id": [1, 2, None], "f": [True, False, True]})
    made = sketch(rows, "id")
    assert "set key_type='int'" in caplog.text
    assert image_of(made) == peer([1.0, 2.0], 12)
    assert image_of(sketch(rows, "id", key_type="int")) == peer([1, 2], 12)


def test_text_of_every_arrow_type():
    keys, words = ["a", "bb", "ccc"], ["x", "y", "x"]
    expected = sketch(pa.table({"id": keys, "w": words}), "id")
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        table = pa.table(
            {
                "id": pa.array(keys).cast(kind)
                if kind != pa.dictionary(pa.int32(), pa.string())
                else pa.array(keys).dictionary_encode(),
                "w": pa.array(words),
            }
        )
        assert sketch(table, "id") == expected
    frame = pl.DataFrame({"id": keys, "w": pl.Series(words, dtype=pl.Categorical)})
    assert sketch(frame, "id") == expected
    assert sketch(pd.DataFrame({"id": keys, "w": pd.Categorical(words)}), "id") == expected


def test_rows_without_a_key_are_passed_over():
    table = pa.table({"id": ["a", None, "", "b"], "f": [True, True, True, False]})
    made = sketch(table, "id")
    assert made.counts()["estimate"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"id": [1, 1], "y": [0, 1]}, {}, "target 'y': 1 of 2 held keys have rows of several classes"),
        (
            {"id": [1, 1], "y": [0, 0], "c": ["a", "b"]},
            {},
            "feature 'c': 1 held keys have rows with several values",
        ),
        ({"id": [1, 1], "y": [0, 0], "c": [1, 2]}, {"edges": {"c": [1, 2]}}, "several bins"),
        ({"id": [1, 2], "y": [0, None]}, {}, "target column 'y' has missing values"),
        ({"id": [1, 2], "y": [0, 1]}, {"lg_k": 3}, "lg_k=3 is outside 4 to 26"),
        ({"id": [1, 2], "y": [0, 1]}, {"bins": 1}, "bins=1"),
        (
            {"id": [1, 2], "y": [0, 1]},
            {"features": ["z"]},
            "column 'z' is not in the data; there are 'id', 'y'",
        ),
        ({"id": [1, 2], "y": [0, 1]}, {"features": ["id"]}, "'id' is the key or the target"),
        ({"id": [1, 2], "y": [0, 1]}, {"edges": {"z": [1]}}, "edges are given for 'z'"),
        ({"id": [True, False], "y": [0, 1]}, {}, "key column 'id' is of type bool"),
        ({"id": [1, 2], "y": [0, 1], "f": [0, 2]}, {"features": {"f": "flag"}}, "'f' is a flag but holds 2"),
        ({"id": [1, 2], "y": [0, 1], "f": [0, 2]}, {"features": {"f": "flags"}}, "kind 'flags' is none of"),
        (
            {"id": [1, 2], "y": [0, 1], "f": ["a", "b"]},
            {"features": {"f": "threshold"}},
            "numbers are expected",
        ),
        ({"id": [1, 2], "y": [0, 1], "f": [0, 2]}, {"edges": {"f": [2, 1]}}, "finite and ascending"),
        ({"id": [], "y": []}, {}, "the data are empty|no rows"),
        ({"id": ["x", "y"], "y": [0, 1]}, {"key_type": "int"}, "choose another key_type"),
    ],
)
def test_bad_rows(data, options, message):
    with pytest.raises(ValueError, match=message):
        sketch(pa.table(data), "id", "y", **options)


def test_an_iterator_needs_edges():
    batches = [pa.table({"id": [1, 2], "x": [1.0, 2.0]})]
    with pytest.raises(
        BuildError, match="column 'x' needs cut points, and an iterator can be read only once"
    ):
        sketch(iter(batches), "id")
    assert sketch(iter(batches), "id", edges={"x": [1]}).counts()["estimate"].tolist() == [2, 1]
    assert sketch(lambda: iter(batches), "id").edges == {"x": (1.0,)}


def test_key_types_must_not_change_on_the_way():
    with pytest.raises(BuildError, match="key column 'id' is text here and was int before"):
        sketch([pa.table({"id": [1]}), pa.table({"id": ["1"]})], "id")
    both = sketch([pa.table({"id": [1]}), pa.table({"id": ["1"]})], "id", key_type="text")
    assert both.counts()["estimate"].tolist() == [1]
