"""Judging a tree: its segments, how sure a rate is, and whether a count could be chance.

Examples
--------
>>> from thetatree import judge
>>> lower, upper = judge.wilson(30, 100)
>>> round(lower, 5), round(upper, 5)
(0.21895, 0.39585)
>>> f"{judge.binomial_p(30, 100, 0.15):.3e}"
'1.206e-04'
"""

from thetatree.judge.compare import compare
from thetatree.judge.confidence import split_confidence
from thetatree.judge.cross_validation import cross_validate
from thetatree.judge.evaluation import evaluate
from thetatree.judge.importance import importance
from thetatree.judge.proportions import binomial_p, wilson
from thetatree.judge.search import search
from thetatree.judge.segments import segments
from thetatree.judge.strategy import DecisionStrategy
from thetatree.tree.error_limits import upper_error

__all__ = [
    "DecisionStrategy",
    "binomial_p",
    "compare",
    "cross_validate",
    "evaluate",
    "importance",
    "search",
    "segments",
    "split_confidence",
    "upper_error",
    "wilson",
]
