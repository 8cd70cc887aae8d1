"""Judging a tree: how sure a rate is, and whether a count could be chance.

Examples
--------
>>> from thetatree import judge
>>> lower, upper = judge.wilson(30, 100)
>>> round(lower, 5), round(upper, 5)
(0.21895, 0.39585)
>>> f"{judge.binomial_p(30, 100, 0.15):.3e}"
'1.206e-04'
"""

from thetatree.judge.proportions import binomial_p, wilson

__all__ = ["binomial_p", "wilson"]
