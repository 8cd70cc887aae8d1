"""Formulas become MathML when the site is built: a page needs no script and no network to show them."""

import html
import re

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)


def _as_mathml(found):
    display = "block" if found[1] == "div" else "inline"
    formula = convert(html.unescape(found[2]).strip(), display=display)
    return f'<div class="tt-formula">{formula}</div>' if display == "block" else formula


def on_page_content(content, **_):
    """Replace the formulas of a page."""
    return _FORMULA.sub(_as_mathml, content)
