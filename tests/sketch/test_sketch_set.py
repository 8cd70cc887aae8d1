import base64
import csv
import gzip
import logging

import datasketches as ds
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naive import sketch as naive

from thetatree import _kernel
from thetatree.sketch import SketchFormatError, SketchSet, SketchSetError
from thetatree.sketch.column import MAX_THETA, SketchColumn
from thetatree.sketch.counts import interval
from thetatree.sketch.wire import read_cells, write_images

K = 256


def image(keys, k=K):
    return naive.image(naive.Sketch.of([naive.hash_key(int(key)) for key in keys], k))


def b64(keys, k=K):
    return base64.b64encode(image(keys, k)).decode()


POS, NEG = range(0, 600), range(600, 2000)
RED, TALL = [i for i in range(2000) if i % 3 == 0], [i for i in range(2000) if i % 7 == 0]


def of(keys, members):
    inside = set(members)
    return [key for key in keys if key in inside]


def without(keys, members):
    inside = set(members)
    return [key for key in keys if key not in inside]


def seed_dict(*, absent=False):
    def entry(keys, members):
        present = image(of(keys, members))
        return (present, image(without(keys, members))) if absent else present

    return {
        name: {"total": image(keys), "red": entry(keys, RED), "tall": entry(keys, TALL)}
        for name, keys in (("positive", POS), ("negative", NEG))
    }


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def three_forms(tmp_path, name, keys):
    total, both = b64(keys), [("red", RED), ("tall", TALL)]
    parts = [(feature, b64(of(keys, members)), b64(without(keys, members))) for feature, members in both]
    yield write_csv(
        tmp_path / f"{name}1.csv",
        [("feature", "sketch"), ("total", total), *((feature, present) for feature, present, _ in parts)],
    )
    yield write_csv(
        tmp_path / f"{name}2.csv",
        [("identifier", "sketch_feature_present", "sketch_feature_absent"), ("total", total, total), *parts],
    )
    yield write_csv(
        tmp_path / f"{name}3.csv",
        [("feature", "sketch_type", "sketch_data"), ("total", "total", total)]
        + [(feature, "present", present) for feature, present, _ in parts]
        + [(feature, "absent", absent) for feature, _, absent in parts],
    )


def test_the_seed_dict_of_bytes_and_of_objects():
    made = SketchSet.from_sketches(seed_dict(absent=True))
    objects = {
        name: {
            key: tuple(map(ds.compact_theta_sketch.deserialize, value)) if isinstance(value, tuple)
            else ds.compact_theta_sketch.deserialize(value)
            for key, value in named.items()
        }
        for name, named in seed_dict(absent=True).items()
    }  # fmt: skip
    assert SketchSet.from_sketches(objects) == made
    assert SketchSet.read(objects) == made
    assert made.classes == ("negative", "positive")
    assert made.features == ("red", "tall")
    assert made.form == "per_class"
    assert made.kinds == {"red": "flag", "tall": "flag"}
    expected = naive.Sketch.of([naive.hash_key(key) for key in of(POS, RED)], K)
    hashes, theta = made.sketch("positive", "red", "1")
    assert set(map(int, hashes)) == expected.hashes
    assert theta == pytest.approx(expected.theta / 2**63)


def test_counts_cover_the_truth():
    table = SketchSet.from_sketches(seed_dict(absent=True)).counts(0.999)
    truth = [len(keys) for keys in (
        NEG, of(NEG, RED), without(NEG, RED), of(NEG, TALL), without(NEG, TALL),
        POS, of(POS, RED), without(POS, RED), of(POS, TALL), without(POS, TALL),
    )]  # fmt: skip
    assert list(table.columns) == [
        "class",
        "feature",
        "value",
        "absent",
        "estimate",
        "lower",
        "upper",
        "theta",
        "held",
    ]
    assert np.all((table["lower"] <= truth) & (truth <= table["upper"]))
    exact = table["theta"] == 1
    assert exact.sum() > 0
    assert list(table["estimate"][exact]) == list(np.array(truth)[exact])


def test_bounds_are_where_the_held_keys_would_be_z_deviations_away():
    held, theta = np.array([3.0, 50.0, 4096.0, 40.0]), np.array([0.001, 0.2, 0.5, 0.9])
    found = interval(held, theta, 0.95)
    for bound in (found.lower, found.upper):
        free = bound > held
        away = np.abs(held - bound * theta) / np.sqrt(bound * theta * (1 - theta))
        assert away[free] == pytest.approx(1.959964, rel=1e-5)
        assert free[:3].all()
    assert np.all((found.lower <= found.estimate) & (found.estimate <= found.upper))
    nothing = interval(0, 0.01)
    assert (nothing.estimate, nothing.lower) == (0, 0)
    assert 380 < nothing.upper < 385
    with pytest.raises(ValueError, match="level=95 is not a probability"):
        interval(1, 1, 95)


@pytest.mark.parametrize("version", [3, 4])
def test_parquet_round_trip(tmp_path, version):
    made = SketchSet.from_sketches(seed_dict(absent=True), lg_k=8)
    made.write(tmp_path / "a.parquet", version=version)
    again = SketchSet.read(tmp_path / "a.parquet")
    assert again == made
    again.write(tmp_path / "b.parquet", version=version)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert SketchSet.read(made.to_arrow()) == made
    assert not list(tmp_path.glob("*.part"))


def test_the_three_csv_forms(tmp_path):
    files = {name: list(three_forms(tmp_path, name, keys)) for name, keys in (("p", POS), ("n", NEG))}
    both = SketchSet.from_sketches(seed_dict(absent=True))
    present = SketchSet.from_sketches(seed_dict())
    for form, expected in ((0, present), (1, both), (2, both)):
        made = SketchSet.read({"positive": files["p"][form], "negative": str(files["n"][form])})
        assert made == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "|"),
        lambda text: text.replace(",", " , ").replace("\n", "  \n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text.rstrip(),
        lambda text: text + "\n\n",
        lambda text: text.replace("feature,sketch", "Feature,SKETCH").replace("total", "TOTAL"),
        lambda text: text.replace("feature,", "id,feature,note,").replace("\ntotal", "\n1,total,"),
    ],
)
def test_csv_as_the_world_writes_it(tmp_path, change):
    plain = f"feature,sketch\ntotal,{b64(POS)}\nred,{b64(of(POS, RED))}\n"
    if ",note," in change(plain):
        plain = plain.replace("\nred", "\n2,red,")
    path = tmp_path / "odd.csv"
    path.write_bytes(change(plain).encode())
    expected = SketchSet.from_sketches({"p": {"total": image(POS), "red": image(of(POS, RED))}})
    assert SketchSet.read({"p": path}) == expected


def test_compressed_csv_of_one_long_row(tmp_path):
    keys = range(30_000)
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(f"feature,sketch\ntotal,{b64(keys, 1 << 15)}\n".encode()))
    assert SketchSet.read({"p": path}).counts()["held"].tolist() == [30_000]


def test_long_tables_of_other_makers(tmp_path):
    """Names in capitals, counts as floats, a data frame of any library."""
    columns = {"CLASS": ["p", "p"], "FEATURE": [None, "red"], "VALUE": [None, "1"]}
    columns |= {"SKETCH": [image(POS), image(of(POS, RED))], "N": [600.0, None]}
    made = SketchSet.read(pa.table(columns))
    assert made.features == ("red",)
    assert made.counts()["estimate"].iloc[0] == 600
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        assert SketchSet.read(frame) == made
    assert SketchSet.read([pd.DataFrame(columns)] * 2).features == ("red",)
    with pytest.raises(SketchFormatError, match="int is not a source of sketches"):
        SketchSet.read(3)
    with pytest.raises(SketchFormatError, match=r"n = 1\.5 is not a count"):
        SketchSet.read(pa.table({**columns, "N": [1.5, None]}))


def test_a_target_that_names_no_class(tmp_path):
    path = write_csv(tmp_path / "a.csv", [("feature", "sketch"), ("", b64(POS)), ("y=p", b64(POS))])
    assert SketchSet.read(path, target="y").classes == ("p",)
    with pytest.raises(SketchSetError, match="no row is named like 'z=yes'"):
        SketchSet.read(path, target="z")


def test_the_first_bad_sketch_of_many_is_named():
    images = [image(range(i, i + 400)) for i in range(300)]
    for bad in (250, 77, 131):
        images[bad] = images[bad][:24] + bytes(8) + images[bad][32:]
    with pytest.raises(SketchFormatError, match="cell 77, byte 24: hash 0,"):
        read_cells(images, lambda i: f"cell {i}")


def test_one_vs_all_and_class_free(tmp_path):
    everyone = write_csv(
        tmp_path / "all.csv",
        [
            ("feature", "sketch"),
            ("", b64([*POS, *NEG])),
            ("red", b64(RED)),
            ("y=p", b64(POS)),
            ("y=n", b64(NEG)),
        ],
    )
    free = SketchSet.read(everyone, target="y")
    assert (free.form, free.classes, free.features) == ("class_free", ("n", "p"), ("red",))
    assert "rough" in SketchSet.read(everyone, target="y", lg_k=8).describe()
    total = write_csv(
        tmp_path / "total.csv", [("feature", "sketch"), ("total", b64([*POS, *NEG])), ("red", b64(RED))]
    )
    own = write_csv(
        tmp_path / "p.csv", [("feature", "sketch"), ("total", b64(POS)), ("red", b64(of(POS, RED)))]
    )
    against = SketchSet.read({"p": own, None: total})
    assert (against.form, against.classes) == ("one_vs_all", ("p",))
    pair = {
        "p": {"total": image(POS), "red": image(of(POS, RED))},
        "total": {"total": image([*POS, *NEG]), "red": image(RED)},
    }
    assert SketchSet.from_sketches(pair) == against
    for made in (free, against):
        made.write(tmp_path / "x.parquet")
        assert SketchSet.read(tmp_path / "x.parquet") == made


def test_a_cell_of_several_megabytes(tmp_path):
    keys = range(600_000)
    hashes = np.sort(_kernel.hash_int64(np.asarray(keys), 9001, None))
    whole = SketchColumn(hashes, np.array([0, len(hashes)]), np.array([MAX_THETA], np.uint64))
    cell = base64.b64encode(write_images(whole)[0].as_py()).decode()
    path = write_csv(tmp_path / "big.csv", [("feature", "sketch"), ("total", cell), ("red", b64(range(50)))])
    made = SketchSet.read({"p": path})
    assert made.counts()["held"].tolist() == [600_000, 50]


def test_kinds_are_declared_or_verified():
    names = {
        "total": image(POS), ("color", "r"): image(range(0, 100)), ("color", "b"): image(range(100, 300)),
        ("tag", "x"): image(range(0, 100)), ("tag", "y"): image(range(50, 150)),
        ("age", "<=30"): image(range(0, 100)), ("age", "<=5"): image(range(0, 20)), ("flag", "1"): image([1]),
    }  # fmt: skip
    made = SketchSet.from_sketches({"p": names})
    assert made.kinds == {"age": "threshold", "color": "category", "flag": "flag", "tag": "multi"}
    assert made.edges == {"age": (5.0, 30.0)}
    with pytest.raises(SketchSetError, match="'tag' is declared a category, but 50 held keys"):
        SketchSet.from_sketches({"p": names}, kinds={"tag": "category"})
    with pytest.raises(SketchSetError, match="kind 'colour' is none of"):
        SketchSet.from_sketches({"p": names}, kinds={"tag": "colour"})
    with pytest.raises(SketchSetError, match="declares 'colour', of which there is no sketch"):
        SketchSet.from_sketches({"p": names}, kinds={"colour": "category"})
    with pytest.raises(SketchSetError, match="must be nested"):
        SketchSet.from_sketches(
            {"p": {"total": image(POS), ("age", "<=5"): image(range(9)), ("age", "<=6"): image(range(4))}},
            kinds={"age": "threshold"},
        )
    with pytest.raises(SketchFormatError, match="finite cuts such as '<=30'"):
        SketchSet.from_sketches(
            {"p": {"total": image(POS), ("age", "x"): image([1])}}, kinds={"age": "threshold"}
        )


def test_names_in_csv_are_flags_unless_declared(tmp_path):
    rows = [
        ("feature", "sketch"),
        ("total", b64(POS)),
        ("color=red", b64(range(9))),
        ("color=blue", b64(range(9, 30))),
    ]
    rows += [("age<=3", b64(range(5))), ("age<=10", b64(range(25))), ("x>=3", b64(range(7)))]
    path = write_csv(tmp_path / "p.csv", rows)
    assert SketchSet.read({"p": path}).features == ("age<=10", "age<=3", "color=blue", "color=red", "x>=3")
    declared = SketchSet.read({"p": path}, kinds={"color": "category", "age": "threshold"})
    assert declared.kinds == {"age": "threshold", "color": "category", "x>=3": "flag"}
    assert declared.feature("color").values == ("blue", "red")
    assert SketchSet.read({"p": path}, kinds="verify") == declared
    with pytest.raises(SketchSetError, match="kinds='guess'"):
        SketchSet.read({"p": path}, kinds="guess")
    assert [declared.feature("age").literal(value) for value in declared.feature("age").values] == [
        "age<=3",
        "age<=10",
    ]


def test_a_value_that_a_group_by_did_not_return_is_empty():
    made = SketchSet.from_sketches(
        {"a": {"total": image(POS), "red": image(range(5))}, "b": {"total": image(NEG)}}
    )
    assert made.counts().query("feature == 'red'")["estimate"].tolist() == [5, 0]


def test_absent_sketches_with_other_classes_keys_are_cut_down():
    data = seed_dict(absent=True)
    wide = image(without([*POS, *NEG], RED))
    data["positive"]["red"] = (data["positive"]["red"][0], wide)
    made = SketchSet.from_sketches(data)
    hashes, theta = made.sketch("positive", "red", "1", absent=True)
    expected = naive.Sketch.of([naive.hash_key(i) for i in without([*POS, *NEG], RED)], K)
    expected = expected.intersection(naive.Sketch.of([naive.hash_key(i) for i in POS], K))
    assert set(map(int, hashes)) == expected.hashes
    assert theta == pytest.approx(expected.theta / 2**63)
    data["positive"]["red"] = (data["positive"]["red"][0], image(range(5000, 6000)))
    with pytest.raises(SketchSetError, match="are in no class"):
        SketchSet.from_sketches(data)


def test_mixed_sizes_work():
    data = seed_dict()
    data["positive"]["red"] = image(of(POS, RED), 16)
    data["negative"]["total"] = image(NEG, 4096)
    assert SketchSet.from_sketches(data).counts()["theta"].nunique() > 3


def broken():
    text = naive.image(naive.Sketch.of([naive.hash_key(str(key)) for key in of(POS, RED)], K))
    yield {"p": {"red": image(POS)}}, "the total of class 'p' is missing"
    yield {}, "there is no"
    yield {"p": {}}, "there is no sketch"
    yield {"p": image(POS)}, "bytes where a dict|is not a source"
    yield {"p": {"total": image(POS), "red": text}}, "probably hashed as another type"
    yield (
        {"p": {"total": image(POS), "red": image(range(590, 610))}},
        "10 of its 20 keys are not among|keys are not among",
    )
    yield (
        {"p": {"total": image(POS)}, "n": {"total": image(range(500, 900))}},
        r"the classes overlap: \d+ of \d+ held keys",
    )
    yield {"p": {"total": image(range(9))}, None: {"total": image(NEG), "a": image([])}}, "are not among"
    yield {"p": {"total": image(POS)}, 1: {"total": image(NEG)}}, "class labels of several types"
    yield {"p": {"total": image(POS), "a": (None, image([]))}}, "give the present one, or the pair"
    yield {"p": {"total": image(POS), 3: image([])}}, "3 does not name a sketch"
    yield {"p": {"total": image(POS), "a": image([1]), ("a", "1"): image([1])}}, "are given twice"
    yield {"p": {"total": image(POS), "": image([1])}}, "an empty name"
    yield (
        {
            name: {"total": image(keys), "a": image([])}
            for name, keys in (("p", POS), ("n", NEG), (None, range(2000)))
        },
        "sketches of 2 classes and of all keys",
    )


@pytest.mark.parametrize(("data", "message"), list(broken()))
def test_sets_that_do_not_fit_are_refused(data, message):
    with pytest.raises((SketchSetError, SketchFormatError), match=message):
        SketchSet.read(data) if not data else SketchSet.from_sketches(data)


def test_errors_name_the_sketch():
    data = seed_dict()
    data["positive"]["red"] = data["positive"]["red"][:-1]
    with pytest.raises(
        SketchFormatError, match=r"class 'positive', feature 'red', value '1', byte .*truncated"
    ):
        SketchSet.from_sketches(data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n", "header 'a,b'; expected one of"),
        ("feature,sketch\ntotal\n", "as many cells as the header"),
        ("feature,sketch\ntotal,AQMDAAAezJM=\nred,a,b\n", "Row #3: Expected 2 columns, got 3"),
        ("feature,sketch,sketch\ntotal,a,b\n", "names column 'sketch' twice"),
        (
            "identifier,sketch_feature_present,sketch_feature_absent\ntotal,AQMDAAAezJM=,\nred,,AQMDAAAezJM=\n",
            "feature 'red', value '1', byte 0: an empty cell",
        ),
        ("feature,sketch\ntotal,AQ*=\n", r"total, character 2: '\*' does not belong in base64"),
        ("feature,sketch\ntotal,\n", "an empty cell"),
        ("feature,sketch_type,sketch_data\nx,there,AQMDAAAezJM=\n", "sketch_type 'there'"),
        ("feature,sketch\nred,AQMDAAAezJM=\n", "the total of all keys is missing|class 'p' is missing"),
        ("feature,sketch\ntotal,AQMDAAAezJM=\nred,AQMDAAAezJM=\nred,AQMDAAAezJM=\n", "given twice"),
    ],
)
def test_bad_csv(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises((SketchFormatError, SketchSetError), match=message):
        SketchSet.read({"p": path})


def test_bad_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(FileNotFoundError, match="no such file"):
        SketchSet.read(path)
    path.write_bytes(b"rubbish")
    with pytest.raises(SketchFormatError, match="not a Parquet file"):
        SketchSet.read(path)
    table = SketchSet.from_sketches(seed_dict()).to_arrow()
    swapped = table.take([1, 0, *range(2, len(table))]).replace_schema_metadata(table.schema.metadata)
    with pytest.raises(SketchFormatError, match="row 0: checksum"):
        SketchSet.read(swapped)
    renamed = table.set_column(1, "feature", pa.array([None, "tall", "red"] * 2)).replace_schema_metadata(
        table.schema.metadata
    )
    with pytest.raises(SketchFormatError, match="row 1: checksum"):
        SketchSet.read(renamed)
    with pytest.raises(SketchFormatError, match="where 6 were written"):
        SketchSet.read(table.slice(1))
    with pytest.raises(SketchFormatError, match="column 'value' is missing"):
        SketchSet.read(table.drop(["value"]))
    newer = table.schema.metadata[b"thetatree"].replace(b'"version": 1', b'"version": 2')
    with pytest.raises(SketchFormatError, match="version 2 of the long table"):
        SketchSet.read(table.replace_schema_metadata({b"thetatree": newer}))
    with pytest.raises(SketchFormatError, match="metadata are damaged"):
        SketchSet.read(table.replace_schema_metadata({b"thetatree": b"{"}))
    other = table.schema.metadata[b"thetatree"].replace(b"datasketches-murmur3", b"datasketches-murmur4")
    with pytest.raises(SketchFormatError, match="hash family 'datasketches-murmur4'"):
        SketchSet.read(table.replace_schema_metadata({b"thetatree": other}))


def test_a_long_table_made_elsewhere(tmp_path):
    table = pa.table({
        "class": ["p"] * 4, "feature": [None, "red", "red", "color"], "value": [None, "1", "0", "b"],
        "sketch": [image(POS), image(of(POS, RED)), image(without(POS, RED)), image([1, 2])],
        "n": [600, None, None, None],
    })  # fmt: skip
    pq.write_table(table, tmp_path / "x.parquet")
    made = SketchSet.read(tmp_path / "x.parquet")
    assert made.kinds == {"color": "category", "red": "flag"}
    assert made.counts().iloc[0][["estimate", "lower", "upper"]].tolist() == [600, 600, 600]
    assert made.counts()["absent"].tolist() == [False, False, False, True]
    with pytest.raises(SketchSetError, match="n = 5, but the sketch holds 256"):
        SketchSet.read(table.set_column(4, "n", pa.array([5, None, None, None])))
    with pytest.raises(SketchFormatError, match="row 1: n = -3 is not a count"):
        SketchSet.read(table.set_column(4, "n", pa.array([5, -3, None, None])))
    with pytest.raises(SketchFormatError, match="row 1: no sketch"):
        SketchSet.read(table.set_column(3, "sketch", pa.array([image(POS), None, None, None])))
    text = table.set_column(
        3, "sketch", pa.array([base64.b64encode(s.as_py()).decode() for s in table["sketch"]])
    )
    assert SketchSet.read(text) == made


def test_select_and_folds():
    made = SketchSet.from_sketches(seed_dict(absent=True))
    only = made.select(["tall"])
    assert only.features == ("tall",)
    assert len(only) == 6
    with pytest.raises(SketchSetError, match="no feature 'big' in the set; it has red, tall"):
        made.select(["big"])
    folds = made.folds(4)
    whole = set(map(int, made.sketch("negative")[0]))
    tests = [set(map(int, test.sketch("negative")[0])) for _, test in folds]
    assert set().union(*tests) == whole
    assert sum(map(len, tests)) == len(whole)
    for (train, test), held in zip(folds, tests, strict=True):
        assert set(map(int, train.sketch("negative")[0])) == whole - held
        red = set(map(int, test.sketch("negative", "red", "1")[0]))
        assert red & whole <= held
        assert 30 < len(held) < 100
    with pytest.raises(SketchSetError, match="at least 2 folds"):
        made.folds(1)


def test_a_fold_says_nothing_about_size():
    hashes = np.arange(1, 100_001, dtype=np.uint64)
    column = SketchColumn(hashes, np.array([0, len(hashes)]), np.array([len(hashes) + 1], np.uint64))
    kept = column.fold(5, 2, keep=True)[0]
    assert abs(len(kept) - 20_000) < 600
    assert abs(np.mean(kept) - 50_000) < 700


def test_sets_do_not_change():
    made = SketchSet.from_sketches(seed_dict())
    with pytest.raises(ValueError, match="read-only"):
        made.data.column.hashes[0] = 1
    with pytest.raises(AttributeError):
        made.classes = ()
    logging.getLogger(__name__).debug("%r", made)
    assert repr(made).startswith("SketchSet(per_class, classes=('negative', 'positive'), features=2")


def test_folds_of_another_seed_are_independent():
    """Folds of one seed nest: a part split again by the same seed would have empty folds."""
    made = SketchSet.from_sketches(
        {c: {"total": image(range(c * 4000, c * 4000 + 4000), 4000)} for c in (0, 1)}
    )
    rest, part = made.split(0.5)
    for a, b in ((rest, part), made.folds(2, seed=7)[0]):
        sizes = [len(one.sketch(0)[0]) for _, one in a.folds(4, seed=1)]
        assert min(sizes) > 400
        keys, others = (set(one.sketch(0)[0].tolist()) for one in (a, b))
        assert keys | others == set(made.sketch(0)[0].tolist())
        assert not keys & others
    assert [len(one.sketch(0)[0]) for _, one in rest.folds(4)[:2]] == [0, 0]
    assert abs(len(part.sketch(1)[0]) - 2000) < 150


def test_a_share_or_seed_that_is_none_is_named():
    made = SketchSet.from_sketches({c: {"total": image([c, c + 2])} for c in (0, 1)})
    for share in (0, 1, -0.5, "half", True):
        with pytest.raises(SketchSetError, match="between 0 and 1, both excluded"):
            made.split(share)
    for seed in (-1, 0.5, True, 1 << 63):
        with pytest.raises(SketchSetError, match="whole number from 0"):
            made.folds(2, seed=seed)
