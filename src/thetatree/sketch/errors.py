"""What can be wrong with sketches. All are ValueErrors; each message names the place, the value and the
remedy.
"""

from __future__ import annotations


class SketchError(ValueError):
    """Sketches or sketch sets that cannot be used."""


class SketchFormatError(SketchError):
    """Bytes, text or files that are not what a sketch, or a set of them, is written as."""


class SketchSetError(SketchError):
    """Sketches that are each in order but do not fit together: a value outside its total, overlapping
    classes.
    """


class BuildError(SketchError):
    """Rows that cannot be sketched as asked."""
