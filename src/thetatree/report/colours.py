"""The colours of classes, wherever a tree is drawn: told apart on white and on black."""

_CLASSES = ("#3f78b5", "#e0872b", "#359377", "#b9557f", "#7b68ba", "#a07a45", "#5c93a8", "#bda92f")
_OTHER = "#9aa1a8"
N_CLASSES = len(_CLASSES)


def colour_of_class(k: int) -> str:
    """Return the colour of a class by its place; classes beyond the palette share one.

    Examples
    --------
    >>> colour_of_class(0), colour_of_class(100)
    ('#3f78b5', '#9aa1a8')
    """
    return _CLASSES[k] if k < N_CLASSES else _OTHER
