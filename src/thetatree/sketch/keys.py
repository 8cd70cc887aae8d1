"""Keys to hashes, exactly as DataSketches hashes them: integers, floats and text each in their own way.

The same id hashed as an integer and as text gives two different keys, so a column must be of one type
throughout.
"""

from __future__ import annotations

import logging
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thetatree import _kernel
from thetatree.sketch.batches import Values, plain_text
from thetatree.sketch.column import Hashes
from thetatree.sketch.errors import BuildError
from thetatree.sketch.wire import arrow_bytes

_log = logging.getLogger(__name__)

KeyType = Literal["int", "float", "text"]


class KeyHasher:
    """Hashes one key column, batch by batch.

    Parameters
    ----------
    name
        The column, for error messages.
    seed
        The hash seed.
    key_type
        Convert the keys to "int", "float" or "text" first; None takes the type they have.

    Attributes
    ----------
    seen
        What the keys so far have been hashed as: "int", "float" or "text".
    """

    def __init__(self, name: str, seed: int, key_type: KeyType | None) -> None:
        self._name = name
        self._seed = seed
        self._wanted = key_type
        self.seen: str | None = None
        self._warned = False

    def __call__(self, values: Values) -> Hashes:
        """Hash a batch; missing keys, NaN and empty text get 0, which stands for no key."""
        array = pa.array(values) if isinstance(values, np.ndarray) else plain_text(values)
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        if self._wanted is not None:
            array = self._converted(array, self._wanted)
        kind = self._kind_of(array.type)
        if self.seen not in (None, kind):
            raise BuildError(
                f"key column {self._name!r} is {kind} here and was {self.seen} before: its hashes would "
                "not match; "
                "give all batches one type, or set key_type"
            )
        self.seen = kind
        present = None if array.null_count == 0 else np.asarray(array.is_valid(), np.uint8)
        return self._hash(array, kind, present)

    def _hash(self, array: pa.Array, kind: str, present: npt.NDArray[np.uint8] | None) -> Hashes:
        if kind == "text":
            return _kernel.hash_text(*arrow_bytes(array), self._seed, present)
        filled = array.fill_null(0) if present is not None else array
        if kind == "float":
            self._warn_of_whole_numbers(filled)
            return _kernel.hash_float64(np.asarray(filled, np.float64), self._seed, present)
        # Unsigned 64-bit keys are hashed by their eight bytes, as DataSketches does.
        wide = np.asarray(filled)
        return _kernel.hash_int64(
            np.ascontiguousarray(wide.astype(np.int64, copy=False)), self._seed, present
        )

    def _warn_of_whole_numbers(self, numbers: pa.Array) -> None:
        """Integers with missing ones among them often become floats on the way, and then match nothing."""
        found = np.asarray(numbers, np.float64)
        if not self._warned and len(found) and np.all(found == np.rint(found)):
            self._warned = True
            _log.warning(
                "key column %r is of floats, all whole: hashed as such they match no integer keys; set "
                "key_type='int' if other tables have integers",
                self._name,
            )

    def _kind_of(self, kind: pa.DataType) -> str:
        if pa.types.is_integer(kind):
            return "int"
        if pa.types.is_floating(kind):
            return "float"
        if any(is_kind(kind) for is_kind in _TEXT):
            return "text"
        raise BuildError(
            f"key column {self._name!r} is of type {kind}; keys are integers, floats or text: set "
            "key_type='text', and do "
            "the same wherever this key is sketched"
        )

    def _converted(self, array: pa.Array, wanted: KeyType) -> pa.Array:
        target = {"int": pa.int64(), "float": pa.float64(), "text": pa.large_string()}[wanted]
        try:
            return array.cast(target)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BuildError(
                f"key column {self._name!r}: {str(error)[:150]}; choose another key_type"
            ) from error


_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
