"""Theta sketches: the wire format, sketch sets, building and merging them.

The folder and the builder share a name: `thetatree.sketch(data, key=...)` calls its
`build.sketch`, while `thetatree.sketch.wire` and the others are modules.
"""

import inspect
import sys
from types import ModuleType
from typing import Any

from thetatree.sketch.build import sketch as _sketch
from thetatree.sketch.errors import BuildError, SketchError, SketchFormatError, SketchSetError
from thetatree.sketch.key_sample import KeySample
from thetatree.sketch.kinds import Feature, Kind
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.tuple_set import TupleSet

__all__ = [
    "BuildError",
    "Feature",
    "KeySample",
    "Kind",
    "SketchError",
    "SketchFormatError",
    "SketchSet",
    "SketchSetError",
    "TupleSet",
]


class _Builder(ModuleType):
    """A callable package: once anything in it is imported, Python binds `thetatree.sketch` to the package."""

    __signature__ = inspect.signature(_sketch)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _sketch(*args, **kwargs)


sys.modules[__name__].__class__ = _Builder
