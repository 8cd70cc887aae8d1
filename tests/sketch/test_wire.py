import base64
import os
import struct

import datasketches as ds
import numpy as np
import pyarrow as pa
import pytest
from naive import sketch as naive

from thetatree import _kernel
from thetatree.sketch import SketchFormatError
from thetatree.sketch.column import MAX_THETA, SketchColumn
from thetatree.sketch.wire import image_of, read_cells, seed_hash, write_images

FUZZ = int(os.environ.get("THETATREE_FUZZ", "20000"))
CRASHER = bytes.fromhex("01040320041acc9300000008")


def read(*cells, seed=9001):
    return read_cells(list(cells), lambda i: f"cell {i}", seed)


def peer(keys, lg_k=8, seed=9001):
    sketch = ds.update_theta_sketch(lg_k, 1.0, seed)
    for key in keys:
        sketch.update(key)
    sketch.trim()
    return sketch


def column(*sketches):
    offsets = np.cumsum([0, *(len(s.hashes) for s in sketches)])
    hashes = np.array([h for s in sketches for h in sorted(s.hashes)], np.uint64)
    return SketchColumn(hashes, offsets, np.array([s.theta for s in sketches], np.uint64))


def random_sketch(rng, n, width=63, exact=False):
    hashes = np.unique(rng.integers(1, 1 << width, n, dtype=np.uint64))
    theta = MAX_THETA if exact else int(rng.integers(int(hashes.max(initial=1)) + 1, MAX_THETA))
    return naive.Sketch(map(int, hashes), theta)


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 10_000])
def test_images_are_those_of_datasketches(n, version):
    theirs = peer(range(n)).compact()
    image = theirs.serialize(compress=version == 4)
    ours = read(image)
    assert list(ours[0]) == list(theirs)
    assert ours.thetas[0] == theirs.theta64
    assert write_images(ours, version=version)[0].as_py() == image


@pytest.mark.parametrize("width", range(1, 64))
def test_version_4_of_every_entry_width(width):
    rng = np.random.default_rng(width)
    for n in (2, 3, 8, 9, 17, 100):
        steps = rng.integers(1, max(2, min((1 << width), MAX_THETA // n)), n, dtype=np.uint64)
        steps[0] = min((1 << width) - 1, MAX_THETA // 2)
        hashes = [int(h) for h in np.cumsum(steps, dtype=np.uint64) if int(h) < MAX_THETA]
        for theta in (MAX_THETA, max(hashes) + 1):
            sketch = naive.Sketch(hashes, theta)
            image = naive.image_v4(sketch, width)
            assert read(image).same(column(sketch))
            theirs = ds.compact_theta_sketch.deserialize(image)
            assert list(theirs) == hashes
            assert write_images(column(sketch), version=4)[0].as_py() == theirs.serialize(compress=True)


def test_a_column_is_read_and_written_as_a_whole():
    rng = np.random.default_rng(1)
    sketches = [random_sketch(rng, int(n), exact=bool(n % 2)) for n in rng.integers(0, 400, 200)]
    ours = column(*sketches)
    images = write_images(ours)
    assert images.to_pylist() == [naive.image(sketch) for sketch in sketches]
    for cells in (
        images,
        images.cast(pa.binary()),
        pa.chunked_array([images[:70], images[70:]]),
        images.to_pylist(),
    ):
        assert read_cells(cells, str).same(ours)
    assert read_cells(images[50:60], str).same(ours.take(range(50, 60)))
    assert read_cells(write_images(ours, version=4), str).same(ours)


def test_an_unordered_sketch_is_sorted():
    sketch = peer(range(1000))
    assert read(sketch.compact(ordered=False).serialize()).same(read(sketch.compact().serialize()))


def test_datasketches_objects_are_cells():
    sketch = peer(range(100))
    assert read(sketch, sketch.compact()).same(read(*[sketch.compact().serialize()] * 2))
    with pytest.raises(SketchFormatError, match="cell 1: int is not a sketch; give bytes"):
        read(sketch, 3)


def test_text_and_clickhouse_cells():
    for n in (0, 1, 40, 3000):
        image = peer(range(n), 12).compact().serialize()
        size, varint = len(image), b""
        while size > 127:
            varint, size = varint + bytes([size & 127 | 128]), size >> 7
        state = varint + bytes([size]) + image
        for raw in (image, state):
            plain = base64.b64encode(raw).decode()
            forms = [
                plain,
                plain.rstrip("="),
                raw.hex(),
                raw.hex().upper(),
                "0x" + raw.hex(),
                "\\x" + raw.hex(),
            ]
            forms += [f"  {plain}\t\r\n", f"\n 0X{raw.hex()} "]
            forms += [base64.urlsafe_b64encode(raw).decode(), base64.encodebytes(raw).decode(), raw]
            for form in forms:
                assert read(form).same(read(image)), form[:40]
        assert read_cells(pa.array([plain]), str).same(read(image))
    assert read(b"\0").same(SketchColumn.empty())


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("AQMDAAAezJ*=", "character 10: '\\*'"),
        ("AQMDAAAezJM=AQ", "character 12"),
        ("AQMDA", "character 5: base64 ends"),
        ("01030300001ecc9", "character 15: an odd number"),
        ("0x01zz", "character 4: 'z'"),
        ("=", "character 0"),
        ("  AQ*=", "character 4: '\\*'"),
    ],
)
def test_rubbish_in_text(text, where):
    with pytest.raises(SketchFormatError, match=f"cell 0, {where}"):
        read_cells(pa.array([text]), lambda i: f"cell {i}")


def test_other_seeds():
    image = peer(range(50), seed=123).compact().serialize()
    assert len(read(image, seed=123)[0]) == 50
    with pytest.raises(SketchFormatError, match=r"byte 6: seed hash 0x[0-9a-f]+ where 0x93cc is expected"):
        read(image)
    assert len(read(peer([], seed=123).compact().serialize())[0]) == 0
    with pytest.raises(SketchFormatError, match="seed=-1"):
        seed_hash(-1)


def bad_images():
    exact = bytearray(naive.image(naive.Sketch([5, 7, 9])))
    estimating = bytearray(naive.image(naive.Sketch([5, 7, 9], 1000)))
    packed = bytearray(naive.image_v4(naive.Sketch([5, 7, 9], 1000)))

    def changed(image, at, value):
        copy = bytearray(image)
        copy[at : at + len(value)] = value
        return bytes(copy)

    def long(value):
        return struct.pack("<Q", value)

    yield b"", "byte 0: an empty cell"
    yield b"\1\3\3", "byte 3: truncated: 3 bytes"
    yield CRASHER, "byte 12: truncated"
    yield changed(exact, 1, b"\2"), "byte 1: serial version 2"
    yield changed(exact, 1, b"\5"), "byte 1: serial version 5"
    yield changed(exact, 2, b"\2"), "byte 2: family 2"
    yield changed(exact, 0, b"\0"), "byte 0: preamble of 0"
    yield changed(exact, 0, b"\4"), "byte 0: preamble of 4"
    yield changed(packed, 0, b"\3"), "byte 0: preamble of 3"
    yield changed(exact, 5, b"\x1b"), "byte 5: the big-endian flag"
    yield changed(exact, 5, b"\x12"), "byte 5: flags 0x12 lack the compact bit"
    yield changed(exact, 5, b"\x5a"), "byte 5: flags 0x5a use reserved bits"
    yield changed(exact, 5, b"\x1e"), "byte 8: the empty flag is set but the count is 3"
    yield changed(exact, 6, b"\0\0"), "byte 6: seed hash 0x0 "
    yield bytes(exact[:-1]), "byte 39: truncated: 39 bytes where 3 entries needs 40"
    yield bytes(exact) + b"x", "byte 40: 1 extra bytes"
    yield changed(exact, 8, b"\xff\xff\xff\xff"), "truncated: 40 bytes where 4294967295 entries"
    yield changed(exact, 16, long(0)), "byte 16: hash 0,"
    yield changed(exact, 24, long(5)), "byte 24: hash 0x5 occurs twice"
    yield changed(exact, 24, long(4)), "byte 24: hash 0x4 after 0x5: not ascending"
    yield changed(exact, 32, long(MAX_THETA)), "byte 32: hash 0x7fffffffffffffff is not below theta"
    yield changed(exact, 32, long(1 << 63)), "byte 32: hash 0x8000000000000000 is not below theta"
    yield changed(estimating, 40, long(1000)), "byte 40: hash 0x3e8 is not below theta 0x3e8"
    yield changed(estimating, 16, long(0)), r"byte 16: theta 0x0 is outside \(0, 1\]"
    yield changed(estimating, 16, long(1 << 63)), "byte 16: theta 0x8000000000000000 is outside"
    yield changed(changed(exact, 5, b"\x0a"), 24, long(5)), "hash 0x5 occurs twice"
    yield changed(packed, 8, long(0)), "byte 8: theta 0x0"
    yield changed(packed, 3, b"\0"), "byte 3: entries of 0 bits"
    yield changed(packed, 3, b"\x40"), "byte 3: entries of 64 bits"
    yield changed(packed, 4, b"\0"), "byte 4: a count of 0 bytes"
    yield changed(packed, 4, b"\5"), "byte 4: a count of 5 bytes"
    yield changed(packed, 8, long(9)), "byte 17: hash 0x9 is not below theta 0x9"
    yield changed(packed, 17, b"\0"), "byte 17: hash 0x0 occurs twice"
    yield bytes(packed[:-1]), "truncated"
    yield naive.image_v4(naive.Sketch([MAX_THETA - 1]), 63)[:-8] + b"\xff" * 8, "is not below theta"


@pytest.mark.parametrize(("image", "message"), list(bad_images()))
def test_bad_images(image, message):
    good = naive.image(naive.Sketch([1, 2]))
    with pytest.raises(SketchFormatError, match=message) as caught:
        read(good, image, good)
    assert str(caught.value).startswith("cell 1, byte ")


def test_mutated_and_random_images_never_crash():
    rng = np.random.default_rng(9)
    seeds = [naive.image(naive.Sketch([])), CRASHER]
    for n in (1, 2, 9, 40):
        for exact in (True, False):
            sketch = random_sketch(rng, n, 62, exact=exact)
            seeds += [naive.image(sketch), naive.image_v4(sketch), base64.b64encode(naive.image(sketch))]
    refused = 0
    for _ in range(FUZZ):
        blob = bytearray(seeds[rng.integers(len(seeds))])
        for _ in range(rng.integers(1, 5)):
            at = int(rng.integers(min(len(blob), 24) if rng.random() < 0.7 else len(blob)))
            blob[at] = rng.integers(256)
        if rng.random() < 0.2:
            blob = blob[: rng.integers(len(blob) + 1)] or bytearray(rng.bytes(rng.integers(1, 40)))
        refused += survives(bytes(blob))
    assert 0 < refused < FUZZ


def survives(blob):
    """Read or refuse; what is read must be a sketch."""
    cell = np.frombuffer(blob, np.uint8)
    ends = np.array([0, len(blob)], np.int64)
    decoded = _kernel.decode_text(cell, ends)
    if len(decoded) == 2:
        survives_image(*decoded)
    return survives_image(cell, ends)


def survives_image(cell, ends):
    result = _kernel.read_sketches(cell, ends, 0x93CC, 1)
    if len(result) == 1:
        index, offset, what = result[0]
        assert index == 0
        assert 0 <= offset <= len(cell)
        assert what
        return True
    hashes, _, thetas = result
    assert len(hashes) <= 8 * len(cell)
    assert 0 < thetas[0] <= MAX_THETA
    assert np.all(hashes[1:] > hashes[:-1])
    assert np.all((hashes > 0) & (hashes < thetas[0]))
    return False


def test_offsets_from_python_are_checked():
    cell = np.zeros(8, np.uint8)
    for offsets in ([0, 9], [4, 2], [-1, 4], []):
        with pytest.raises(ValueError, match="offsets"):
            _kernel.read_sketches(cell, np.array(offsets, np.int64), 0x93CC, 1)


def test_image_of_names_the_cell():
    assert image_of(bytearray(b"ab"), lambda: "x") == b"ab"
    with pytest.raises(SketchFormatError, match="x: dict is not a sketch"):
        image_of({}, lambda: "x")
