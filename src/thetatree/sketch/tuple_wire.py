"""Compact tuple sketches with a double for each key, as Spark's ``tuple_sketch_agg_double`` writes them.

The layout is DataSketches' for a tuple sketch of serial version 3: a preamble of one to three 8-byte words
(sizes and flags; the number of entries; θ), then entries in any order, little endian. An entry is a hash, a
double and, where Java wrote it (``Tuple<DoubleSummary>``), a byte that says how doubles were put together: 0
for sums. C++ writes no such byte. It was read off images that Spark 4.3 wrote.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thetatree.sketch.column import MAX_THETA, Hashes
from thetatree.sketch.errors import SketchFormatError
from thetatree.sketch.wire import image_of, seed_hash

FAMILY = 9
VERSION = 3
_EMPTY, _COMPACT, _ORDERED = 4, 8, 16
_PLAIN: np.dtype[Any] = np.dtype([("hash", "<u8"), ("y", "<f8")])
_MARKED: np.dtype[Any] = np.dtype([("hash", "<u8"), ("y", "<f8"), ("mode", "u1")])
_MODES = ("sum", "min", "max", "always one")


class TupleImage(NamedTuple):
    """What a tuple sketch says: ascending hashes, θ as an integer, and each key's number."""

    hashes: Hashes
    theta: int
    y: npt.NDArray[np.float64]


def read_tuple(cell: Any, name: Callable[[], str], seed: int) -> TupleImage:
    """Read one image: bytes, base64 or hexadecimal text, or an object that can serialize itself."""
    raw = image_of(cell, name)
    if len(raw) < 8:
        raise SketchFormatError(f"{name()}: {len(raw)} bytes; a tuple sketch has at least 8: it is truncated")
    words, version, family, _, _, flags, found = struct.unpack_from("<BBBBBBH", raw)
    if family != FAMILY:
        kind = "a theta sketch, which carries no numbers" if family == 3 else "no tuple sketch"
        raise SketchFormatError(f"{name()}: family {family} is {kind}; a tuple sketch is of family {FAMILY}")
    if version != VERSION or not 1 <= words <= 3:
        raise SketchFormatError(
            f"{name()}: version {version} with {words} words before the entries is unknown"
        )
    if flags & _EMPTY:
        return TupleImage(np.empty(0, np.uint64), MAX_THETA, np.empty(0))
    if found != seed_hash(seed):
        raise SketchFormatError(f"{name()}: made with another hash seed than {seed}; give seed=")
    if len(raw) < 8 * words:
        raise SketchFormatError(f"{name()}: {len(raw)} bytes end inside the preamble; it is truncated")
    n = struct.unpack_from("<I", raw, 8)[0] if words > 1 else 1
    theta = struct.unpack_from("<Q", raw, 16)[0] if words > 2 else MAX_THETA
    size = len(raw) - 8 * words
    layout = next((one for one in (_PLAIN, _MARKED) if size == one.itemsize * n), None)
    if layout is None:
        raise SketchFormatError(f"{name()}: {len(raw)} bytes do not hold {n} keys with a double each")
    entries = np.frombuffer(raw, layout, n, 8 * words)
    if layout is _MARKED and entries["mode"].any():
        mode = int(entries["mode"].max())
        what = _MODES[mode] if mode < len(_MODES) else f"mode {mode}"
        raise SketchFormatError(f"{name()}: its numbers are not sums but {what}; make it with mode 'sum'")
    return _checked(entries, theta, name)


def _checked(entries: Any, theta: int, name: Callable[[], str]) -> TupleImage:
    if not 0 < theta <= MAX_THETA:
        raise SketchFormatError(f"{name()}: θ = {theta} is not between 0 and 1")
    order = np.argsort(entries["hash"], kind="stable")
    hashes = entries["hash"][order].astype(np.uint64)
    y = entries["y"][order].astype(np.float64)
    if len(hashes) and (hashes[0] == 0 or int(hashes[-1]) >= theta):
        raise SketchFormatError(f"{name()}: a hash is 0, or not below θ; the image is damaged")
    if (hashes[1:] == hashes[:-1]).any():
        raise SketchFormatError(f"{name()}: a key is in it twice; the image is damaged")
    if not np.isfinite(y).all():
        raise SketchFormatError(
            f"{name()}: {y[~np.isfinite(y)][0]!r} is the number of a key; numbers are finite"
        )
    return TupleImage(hashes, theta, y)


def write_tuple(image: TupleImage, seed: int) -> bytes:
    """Write one image, ordered, as Java reads it."""
    n = len(image.hashes)
    empty = n == 0 and image.theta == MAX_THETA
    words = 1 if empty or (n == 1 and image.theta == MAX_THETA) else 2 if image.theta == MAX_THETA else 3
    flags = _COMPACT | _ORDERED | (_EMPTY if empty else 0)
    head = struct.pack("<BBBBBBH", words, VERSION, FAMILY, 1, 0, flags, seed_hash(seed))
    head += struct.pack("<II", n, 0) if words > 1 else b""
    head += struct.pack("<Q", image.theta) if words > 2 else b""
    entries = np.zeros(n, _MARKED)
    entries["hash"], entries["y"] = image.hashes, image.y
    return head + entries.tobytes()
