"""Theta sketches: the wire format, sketch sets, building and merging them."""

from thetatree.sketch.errors import BuildError, SketchError, SketchFormatError, SketchSetError
from thetatree.sketch.kinds import Feature, Kind
from thetatree.sketch.sketch_set import SketchSet

__all__ = ["BuildError", "Feature", "Kind", "SketchError", "SketchFormatError", "SketchSet", "SketchSetError"]
