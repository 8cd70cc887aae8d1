"""Tuple sketches: Spark's images and ours, sets of them, and what is refused."""

import base64

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.sketch import SketchError, TupleSet
from thetatree.sketch.column import MAX_THETA
from thetatree.sketch.tuple_wire import TupleImage, read_tuple, write_tuple


def name():
    return "here"


def rows(n=3000):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {"id": np.arange(n), "red": rng.random(n) < 0.2, "t": rng.integers(0, 9, n), "y": rng.normal(5, 2, n)}
    )


def made(frame, lg_k=8, **options):
    return tt.sketch(frame, key="id", target="y", form="sums", lg_k=lg_k, **options)


def spark_image():
    """Ten ids, each with itself as its number."""
    from thetatree import _kernel

    entries = [(int(h), float(i)) for i, h in enumerate(_kernel.hash_int64(np.arange(10), 9001, None))]
    return sorted(entries)


# SELECT tuple_sketch_agg_double(id, CAST(id AS DOUBLE), 12) FROM range(10), by Spark 4.3
SPARK = """
02030901000acc93 0a00000000000000
15f97dcbbd86a105 000000000000f03f00 1ad1300b998c2f22 000000000000224000 ba40b3c1da06695d 000000000000084000
bd3273724691cc14 000000000000144000 40de2ee1c9db3d08 000000000000104000 c397fc1281709d1e 000000000000004000
e0f48bea9983c37c 0000000000001c4000 e56b61eec8804420 000000000000000000 698bb991b8685708 000000000000204000
fe162113fb98bc10 000000000000184000
"""


def test_read_what_spark_wrote():
    image = read_tuple(bytes.fromhex(SPARK), name, 9001)
    assert list(zip(image.hashes.tolist(), image.y.tolist(), strict=True)) == spark_image()
    assert image.theta == MAX_THETA


def test_read_what_cpp_writes():
    head = bytes.fromhex("02030901000acc930a00000000000000")
    body = b"".join(
        int(h).to_bytes(8, "little") + np.float64(y).tobytes() for h, y in reversed(spark_image())
    )
    image = read_tuple(head + body, name, 9001)
    assert list(zip(image.hashes.tolist(), image.y.tolist(), strict=True)) == spark_image()


@pytest.mark.parametrize("n", [0, 1, 2, 50])
@pytest.mark.parametrize("theta", [MAX_THETA, 1 << 60])
def test_round_trip(n, theta):
    rng = np.random.default_rng(n)
    hashes = np.sort(rng.choice(1 << 40, n, replace=False)).astype(np.uint64) + np.uint64(1)
    image = TupleImage(hashes, theta, rng.normal(size=n))
    raw = write_tuple(image, 9001)
    for cell in (raw, raw.hex(), base64.b64encode(raw).decode()):
        again = read_tuple(cell, name, 9001)
        np.testing.assert_array_equal(again.hashes, image.hashes)
        np.testing.assert_array_equal(again.y, image.y)
        assert again.theta == theta


def altered(at, value):
    raw = bytearray(write_tuple(TupleImage(np.array([3, 9], np.uint64), 1 << 60, np.array([1.0, 2.0])), 9001))
    raw[at : at + len(value)] = value
    return bytes(raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\x02\x03", "truncated"),
        (altered(2, b"\x03"), "family 3 is a theta sketch"),
        (altered(2, b"\x07"), "family 7 is no tuple sketch"),
        (altered(1, b"\x09"), "version 9"),
        (altered(0, b"\x05"), "with 5 words"),
        (altered(6, b"\x00\x00"), "another hash seed"),
        (altered(0, b"")[:12], "ends? inside the preamble"),
        (altered(8, b"\x07"), "do not hold 7 keys"),
        (altered(16, b"\x00" * 8), "θ = 0"),
        (altered(16, b"\x09" + b"\x00" * 7), "not below θ"),
        (altered(24, b"\x00" * 8), "a hash is 0"),
        (altered(41, b"\x03" + b"\x00" * 7), "in it twice"),
        (altered(40, b"\x02"), "not sums but max"),
        (altered(40, b"\x09"), "not sums but mode 9"),
        (altered(32, np.float64(np.nan).tobytes()), "numbers are finite"),
    ],
)
def test_what_is_refused(raw, message):
    with pytest.raises(SketchError, match=message):
        read_tuple(raw, name, 9001)


def test_the_set(tmp_path):
    frame = rows()
    one = made(frame)
    assert one.features == ("red", "t")
    assert one.kinds == {"red": "flag", "t": "threshold"}
    np.testing.assert_allclose(one.of(one.keys), one.y)
    one.write(tmp_path / "sums.parquet")
    again = TupleSet.read(tmp_path / "sums.parquet")
    assert again == one
    bare = one.to_arrow().replace_schema_metadata(None)
    assert TupleSet.read(bare, target="y", lg_k=8).features == one.features
    assert one != 3


def test_sums_over_the_rows_of_a_key():
    frame = rows(200)
    twice = pd.concat([frame, frame.assign(y=1.5)])
    single = frame.assign(y=frame["y"] + 1.5)
    assert made(twice, lg_k=12, edges={"t": [3, 5]}) == made(single, lg_k=12, edges={"t": [3, 5]})
    gaps = frame.assign(y=frame["y"].where(frame["id"] % 2 == 0))
    assert made(gaps, edges={"t": [3]}) == made(frame[frame["id"] % 2 == 0], edges={"t": [3]})


def test_merge_of_partitions_is_one_pass():
    frame = rows()
    parts = [made(frame[frame["id"] % 3 == i], edges={"t": [3, 5]}) for i in range(3)]
    whole = made(frame, edges={"t": [3, 5]})
    assert parts[0].merge(*parts[1:]) == whole
    assert TupleSet.read([part.to_arrow() for part in parts]) == whole
    assert parts[0].merge() is parts[0]
    with pytest.raises(SketchError, match="held keys have other numbers"):
        whole.merge(made(frame.assign(y=0.0), edges={"t": [3, 5]}))


def test_refusals():
    with pytest.raises(SketchError, match="needs a target column"):
        tt.sketch(rows(10), key="id", form="sums")
    with pytest.raises(SketchError, match="infinite"):
        made(rows(10).assign(y=[np.inf, *range(9)]), features=["red"])
    with pytest.raises(SketchError, match="have no classes"):
        per_class = tt.sketch(rows(10), "id", "red", ["t"])
        TupleSet(per_class.data, np.empty(0, np.uint64), np.empty(0))
