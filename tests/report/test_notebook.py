"""How estimators, trees and sketch sets show themselves in a notebook."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from cases import multiway, sketched, table, target

import thetatree as tt

_EMPTY = {"br", "hr", "img", "meta", "link", "input"}


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def parsed(html):
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    return parser


def test_a_tree_shows_every_node():
    rng = np.random.default_rng(0)
    frame = table(rng)
    for n_classes, cls in ((6, tt.CARTClassifier), (0, tt.CARTRegressor)):
        tree = cls(max_depth=5).fit(frame, target(rng, frame, n_classes)).tree_
        found = parsed(tree._repr_html_())
        assert found.seen.count("details") == tree.node_count - tree.n_leaves
        assert "script" not in found.seen
        assert "b" not in found.seen and "img" not in found.seen
    assert "colour = 'red'" in parsed(multiway()._repr_html_()).words


def test_much_is_folded_and_very_much_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    tree = tt.CARTRegressor().fit(X, rng.normal(size=4000)).tree_
    html = tree._repr_html_()
    assert html.count("<details open") <= 24
    assert len(html) < 400_000
    hidden = sum(int(n.replace(",", "")) for n in re.findall(r"… ([\d,]+) nodes below", html))
    lines = len(re.findall('class="tt-test"', html))
    assert lines + hidden == tree.node_count


def test_a_deep_tree_needs_no_recursion():
    n = 3000
    tree = tt.CARTRegressor().fit(np.arange(n)[:, None], 2.0 ** -(np.arange(n) % 1000)).tree_
    parsed(tree._repr_html_())


def test_an_estimator_shows_its_tree_once_it_has_one():
    model = tt.CARTClassifier(max_depth=2)
    assert "tt-tree" not in model._repr_html_()
    model.fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    assert "tt-tree" in model._repr_html_()
    assert "tt-tree" in model._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_a_sketch_set_shows_what_it_holds():
    model, _, _, sketches = sketched(lg_k=9)
    found = " ".join(parsed(sketches._repr_html_()).words)
    for word in ("per-class", "stayed", "threshold", "basic, family, plus", "lg_k 9", "would help"):
        assert word in found
    assert "±" in parsed(model.tree_._repr_html_()).words[-1] or "±" in model._repr_html_()
    counted = int(re.search(r"left ([\d,]+) \(", found)[1].replace(",", ""))
    assert counted == pytest.approx(sketches.counts().estimate.iloc[0], rel=0.001)


def test_names_in_sketch_sets_are_escaped():
    import pandas as pd

    frame = pd.DataFrame({"id": range(50), "<b>x</b>": ["<i>", "&"] * 25, "y": ["</table>", "ok"] * 25})
    html = tt.sketch(frame, key="id", target="y")._repr_html_()
    assert "i" not in parsed(html).seen
    assert "&lt;b&gt;x&lt;/b&gt;" in html
