"""What a warehouse gives back: tables, CSV, chunks, nulls, and what is refused."""

import datasketches
import pandas as pd
import pyarrow as pa
import pytest

import thetatree as tt
from thetatree.engine import from_hashes, from_sketches
from thetatree.engine.answer import EMPTY
from thetatree.sketch import SketchFormatError

ROWS = pd.DataFrame(
    {
        "id": range(900),
        "buys": ["ny"[i % 2] for i in range(900)],
        "vip": [i % 3 == 0 for i in range(900)],
        "size": ["SML"[i % 7 % 3] for i in range(900)],
    }
)
ASKED = {"key": "id", "target": "buys", "features": {"vip": "flag", "size": "category"}, "lg_k": 6}


@pytest.fixture
def made():
    return tt.sketch(ROWS, "id", "buys", {"vip": "flag", "size": "category"}, lg_k=6)


@pytest.fixture
def lines(made):
    """The answer as an engine would give it, with sketches that are not trimmed."""
    found = []
    for label in "ny":
        of = ROWS[ROWS["buys"] == label]
        sets = {(None, None): of["id"], ("vip", "1"): of["id"][of["vip"]]}
        sets |= {("size", s): of["id"][of["size"] == s] for s in "SML"}
        for (feature, value), ids in sets.items():
            sketch = datasketches.update_theta_sketch(6)
            for i in ids:
                sketch.update(int(i))
            image = sketch.compact().serialize()
            found.append({"class": label, "feature": feature, "value": value, "sketch": image})
    return pd.DataFrame(found)


def test_empty_is_what_datasketches_writes():
    assert datasketches.update_theta_sketch(12).compact().serialize() == EMPTY


def test_read_however_it_comes(made, lines, tmp_path):
    assert from_sketches(lines, **ASKED) == made
    table = pa.Table.from_pandas(lines, preserve_index=False)
    assert from_sketches(table, **ASKED) == made
    lines.to_parquet(tmp_path / "answer.parquet")
    assert from_sketches(tmp_path / "answer.parquet", **ASKED) == made
    lines.assign(sketch=[cell.hex() for cell in lines["sketch"]]).to_csv(tmp_path / "answer.csv", index=False)
    assert from_sketches(str(tmp_path / "answer.csv"), **ASKED) == made


def test_chunks_tell_the_totals_again(made, lines):
    total = lines["feature"].isna()
    chunks = [lines[total | (lines["feature"] == name)] for name in ("vip", "size")]
    assert from_sketches(chunks, **ASKED) == made
    other = chunks[1].copy()
    other.loc[other["feature"].isna(), "sketch"] = EMPTY
    with pytest.raises(SketchFormatError, match="two answers give it differently"):
        from_sketches([chunks[0], other], **ASKED)


def test_null_is_an_empty_sketch(lines):
    lines["sketch"] = [
        None if v == "M" and c == "n" else s for c, v, s in lines[["class", "value", "sketch"]].values
    ]
    assert len(from_sketches(lines, **ASKED).sketch("n", "size", "M")[0]) == 0


def test_hashes_however_they_come(made, tmp_path):
    rows = made.data.rows()
    lists = [made.data.column[i].tolist() for i in range(len(rows))]
    # What lies at θ is the hash that was cut off.
    full = [
        [*held, int(theta)] if theta < (1 << 63) - 1 else held
        for held, theta in zip(lists, made.data.column.thetas, strict=True)
    ]
    names = pd.DataFrame([(r.label, r.feature, r.value) for r in rows], columns=["class", "feature", "value"])
    assert from_hashes(names.assign(hashes=full), **ASKED) == made
    one_a_line = names.assign(hash=full).explode("hash")
    assert from_hashes(one_a_line.astype({"hash": "uint64"}), **ASKED) == made
    names.assign(hashes=[str(cell) for cell in full]).to_csv(tmp_path / "hashes.csv", index=False)
    assert from_hashes(tmp_path / "hashes.csv", **ASKED) == made


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ([0], "0 is not a hash"),
        ([(1 << 63) - 1], "is not a hash"),
        ([1.5], "1.5 is not a hash"),
        ("1,2", "write them as"),
    ],
)
def test_what_is_no_hash(cell, message):
    lines = pd.DataFrame({"class": ["n"], "feature": [None], "value": [None], "hashes": [cell]})
    with pytest.raises(SketchFormatError, match=message):
        from_hashes(lines, "id")


def test_refusals(tmp_path):
    with pytest.raises(SketchFormatError, match="hashes come as class"):
        from_hashes(pd.DataFrame({"class": ["n"]}))
    with pytest.raises(SketchFormatError, match="int is no answer"):
        from_sketches(3)
    with pytest.raises(FileNotFoundError, match="no such file"):
        from_sketches(tmp_path / "none.parquet")
