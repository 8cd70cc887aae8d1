"""Sketches in bytes and text: the checked Python side of the kernel's parser and writer.

image: the bytes of one compact theta sketch. cell: what a table holds for one sketch: an image, ClickHouse's
length-prefixed state, or either of them in base64 or hexadecimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thetatree import _kernel
from thetatree.data.threads import n_threads
from thetatree.sketch.column import Indices, SketchColumn
from thetatree.sketch.errors import SketchFormatError

DEFAULT_SEED = 9001

Bytes = npt.NDArray[np.uint8]
Label = Callable[[int], str]


def seed_hash(seed: int) -> int:
    """Give the 16 bits by which DataSketches tells sketches of different seeds apart."""
    if not 0 <= seed < 1 << 64:
        raise SketchFormatError(
            f"seed={seed} is not a 64-bit unsigned number; DataSketches' own is {DEFAULT_SEED}"
        )
    found = int(_kernel.seed_hash(seed))
    if found == 0:
        raise SketchFormatError(
            f"seed={seed} has the hash 0, which DataSketches refuses; choose another seed"
        )
    return found


def read_cells(cells: Sequence[Any] | pa.Array, label: Label, seed: int = DEFAULT_SEED) -> SketchColumn:
    """Read a column of sketches.

    Parameters
    ----------
    cells
        An Arrow binary or text array without nulls, or a sequence of bytes, text, or objects with
        ``compact()`` or ``serialize()``, as the datasketches package has.
    label
        Gives the name of cell i for error messages.
    seed
        The hash seed that the sketches must have been made with.

    Raises
    ------
    SketchFormatError
        If any cell is not a valid sketch; it names the cell, the byte and what was found there.
    """
    expected = seed_hash(seed)
    if isinstance(cells, (pa.Array, pa.ChunkedArray)):
        raw, offsets, text = _arrow_cells(cells)
        if text:
            raw, offsets = _decode(raw, offsets, label)
    else:
        raw, offsets = _object_cells(cells, label)
    result = _kernel.read_sketches(raw, offsets, expected, n_threads(None))
    if len(result) == 1:
        _fail(result[0], label, "byte")
    return SketchColumn(*result)


def write_images(column: SketchColumn, seed: int = DEFAULT_SEED, version: int = 3) -> pa.LargeBinaryArray:
    """Write each sketch as DataSketches' ``compact().serialize()`` would, in serial version 3 or 4."""
    if version not in (3, 4):
        raise SketchFormatError(f"serial version {version} cannot be written; choose 3 or 4")
    raw, offsets = _kernel.write_sketches(
        column.hashes, column.offsets, column.thetas, seed_hash(seed), version
    )
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(column), [None, pa.py_buffer(offsets), pa.py_buffer(raw)]
    )


def _fail(error: tuple[int, int, str], label: Label, unit: str) -> None:
    index, offset, what = error
    raise SketchFormatError(f"{label(index)}, {unit} {offset}: {what}")


def _decode(raw: Bytes, offsets: Indices, label: Label) -> tuple[Bytes, Indices]:
    result = _kernel.decode_text(raw, offsets)
    if len(result) == 1:
        _fail(result[0], label, "character")
    return result[0], result[1]


def arrow_bytes(array: pa.Array | pa.ChunkedArray) -> tuple[Bytes, Indices]:
    """Give the bytes and the 64-bit offsets of an Arrow binary or text array."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if isinstance(array, pa.ChunkedArray):  # more bytes than one chunk of 32-bit offsets can hold
            wide = pa.large_string() if pa.types.is_string(array.type) else pa.large_binary()
            array = array.cast(wide).combine_chunks()
    narrow = pa.types.is_string(array.type) or pa.types.is_binary(array.type)
    _, offset_buffer, data = array.buffers()
    n = len(array)
    if n == 0 or offset_buffer is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(offset_buffer, np.int32 if narrow else np.int64, n + 1 + array.offset)[
        array.offset :
    ]
    raw = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return raw, np.ascontiguousarray(offsets, np.int64)


def _arrow_cells(array: pa.Array | pa.ChunkedArray) -> tuple[Bytes, Indices, bool]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _arrow_cells(array.cast(kind.value_type))
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        text = pa.types.is_string_view(kind)
        array = array.cast(pa.large_string() if text else pa.large_binary())
    elif not (text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        raise SketchFormatError(
            f"a sketch column of type {kind}; sketches are binary, or text in base64 or hexadecimal"
        )
    return *arrow_bytes(array), text


def _object_cells(cells: Sequence[Any], label: Label) -> tuple[Bytes, Indices]:
    blobs = [image_of(cell, lambda i=i: label(i)) for i, cell in enumerate(cells)]  # type: ignore[misc]
    return _join(blobs)


def _join(blobs: Sequence[bytes]) -> tuple[Bytes, Indices]:
    offsets = np.cumsum([0, *(len(blob) for blob in blobs)], dtype=np.int64)
    return np.frombuffer(b"".join(blobs), np.uint8), offsets


def image_of(cell: Any, name: Callable[[], str]) -> bytes:
    """Give the bytes of one cell: bytes, base64 or hexadecimal text, or an object that can serialize
    itself.
    """
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return bytes(cell)
    if isinstance(cell, str):
        raw, _ = _decode(*_join([cell.encode()]), lambda _: name())
        return raw.tobytes()
    compact = cell.compact() if callable(getattr(cell, "compact", None)) else cell
    if not callable(getattr(compact, "serialize", None)):
        raise SketchFormatError(
            f"{name()}: {type(cell).__name__} is not a sketch; give bytes, base64 text or a datasketches "
            "object"
        )
    return bytes(compact.serialize())
