"""Upper error limits: how wrong a leaf may be that made e errors in n cases (Quinlan 1993, chapter 4).

A leaf's training errors flatter it. Taking them for e errors in n draws, pessimistic pruning reckons with the
upper confidence limit of their rate instead. Three rules are found under the name of C4.5:

* ``"release8"``: what release 8 calculates. Without errors the exact limit, 1 − cf^(1/n); from one error on
  Wilson's limit with a continuity correction and a normal deviate that is read off a coarse table; between 0
  and 1 a straight line; where less than half a case is right, two thirds of what is right is added;
* ``"exact"``: the binomial (Clopper-Pearson) limit, U such that P(at most e errors in n | U) = cf;
* ``"normal"``: as release 8 with the exact normal deviate, as other programs have it.

At 25%, 1 error in 16 is .1567, .1596 and .1547. This is the plain form of the rules, over arrays; the kernel
has its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

METHODS = ("release8", "exact", "normal")

# Upper tail probabilities and the deviates that release 8 goes between in straight lines.
_TAIL = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATE = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def upper_error(e: ArrayLike, n: ArrayLike, cf: float = 0.25, method: str = "release8") -> Any:
    """Return the upper confidence limit of the error rate of a leaf.

    Parameters
    ----------
    e : float or array-like
        Errors; weights and shares of cases need not be whole.
    n : float or array-like
        Cases, above 0 and at least `e`.
    cf : float, default=0.25
        How likely so few errors (or fewer) would be if the rate were the limit; a smaller one is more
        pessimistic.
    method : {"release8", "exact", "normal"}, default="release8"
        See the head of this module.

    Returns
    -------
    float or ndarray
        The limit, one for each pair.

    Examples
    --------
    >>> [round(upper_error(1, 16, method=m), 4) for m in ("release8", "exact", "normal")]
    [0.1567, 0.1596, 0.1547]
    >>> upper_error([0, 0], [6, 9]).round(3)
    array([0.206, 0.143])
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}")
    if isinstance(cf, (bool, str)) or not 0 < cf < 1:
        raise ValueError(f"cf must be a share between 0 and 1, both excluded; got {cf!r}")
    errors, cases = np.broadcast_arrays(np.asarray(e, dtype=np.float64), np.asarray(n, dtype=np.float64))
    bad = ~((errors >= 0) & (cases > 0) & (errors <= cases) & np.isfinite(cases))
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise ValueError(f"there can not be e={errors[at]} errors in n={cases[at]} cases")
    limit = _exact(errors, cases, cf) if method == "exact" else _by_release8(errors, cases, cf, method)
    return float(limit) if limit.ndim == 0 else limit


def _exact(e: NDArray[np.float64], n: NDArray[np.float64], cf: float) -> NDArray[np.float64]:
    some_right = e < n
    return np.where(some_right, betaincinv(e + 1, np.where(some_right, n - e, 1.0), 1 - cf), 1.0)


def _by_release8(
    e: NDArray[np.float64], n: NDArray[np.float64], cf: float, method: str
) -> NDArray[np.float64]:
    none = n * (1 - cf ** (1 / n))
    below_one = none + e * (_added(np.ones_like(e), n, cf, method) - none)
    return np.asarray((e + np.where(e < 1, below_one, _added(e, n, cf, method))) / n)


def _added(e: NDArray[np.float64], n: NDArray[np.float64], cf: float, method: str) -> NDArray[np.float64]:
    """What is added to one error or more, in cases."""
    if method == "normal":
        z = float(ndtri(1 - cf))
        hardly_right = np.maximum(n - e, 0.0)
    else:
        z = float(np.interp(cf, _TAIL, _DEVIATE))
        hardly_right = 0.67 * (n - e)
    half_more = e + 0.5
    inside = np.maximum(half_more * (1 - half_more / n) + z * z / 4, 0.0)
    limit = (half_more + z * z / 2 + z * np.sqrt(inside)) / (n + z * z)
    return np.where(half_more >= n, hardly_right, n * limit - e)
