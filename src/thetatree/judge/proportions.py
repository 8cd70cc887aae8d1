"""How sure a share is, and whether a count could be chance.

k of n: k cases of what is looked for among n. Both may be real numbers (weights, effective counts) where no
whole outcomes are listed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtri, xlog1py, xlogy

from thetatree import _kernel

Floats = NDArray[np.float64]

_ALIKE = 1e-7  # relative: outcomes whose chances differ by less are equally likely, as in R and scipy
_LOG_2 = math.log(2)


def wilson(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
    """Return Wilson's score interval of a share: the rates of which k of n is not further than z off.

    Parameters
    ----------
    k, n : float or array-like
        Cases and the number they are among; effective numbers need not be whole. With n = 0 nothing is
        known: the interval is 0 to 1.
    level : float, default=0.95
        How often the interval is to hold the rate.

    Returns
    -------
    lower, upper : float or ndarray

    Examples
    --------
    >>> lower, upper = wilson(0, 10)
    >>> lower, round(upper, 4)
    (0.0, 0.2775)
    >>> wilson(5, 3)
    Traceback (most recent call last):
        ...
    ValueError: wilson: k must be between 0 and n, and n finite; got k=5.0 with n=3.0
    """
    z = normal_quantile("wilson", level)
    hits, cases = np.broadcast_arrays(_numbers("wilson", "k", k), _numbers("wilson", "n", n))
    bad = ~((hits >= 0) & (hits <= cases) & np.isfinite(cases))
    if bad.any():
        i = np.flatnonzero(bad.ravel())[0]
        got = f"k={hits.ravel()[i]} with n={cases.ravel()[i]}"
        raise ValueError(f"wilson: k must be between 0 and n, and n finite; got {got}")
    lower, upper = _score_interval(hits, cases, z)
    return (float(lower), float(upper)) if lower.ndim == 0 else (lower, upper)


def _score_interval(k: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    known = n > 0
    size = np.where(known, n, 1.0)
    rate = np.where(known, k / size, 0.5)
    middle = rate + z * z / (2 * size)
    spread = z * np.sqrt(rate * (1 - rate) / size + (z / (2 * size)) ** 2)
    width = 1 + z * z / size
    # At the ends rounding leaves 1e-17 where the bound is 0 or 1 by definition.
    lower = np.where(k <= 0, 0.0, np.clip((middle - spread) / width, 0, rate))
    upper = np.where(k >= n, 1.0, np.clip((middle + spread) / width, rate, 1))
    return np.where(known, lower, 0.0), np.where(known, upper, 1.0)


def binomial_p(k: float, n: float, rate: float, method: str = "exact", *, log: bool = False) -> float:
    """Return how likely a count as unusual as k of n is, if each case has the given rate.

    Parameters
    ----------
    k, n : float
        Cases and the number they are among. "exact" needs whole numbers.
    rate : float
        The rate to test against, between 0 and 1.
    method : {"exact", "twice_smaller"}, default="exact"
        "exact": the chances of all outcomes that are no likelier than k, added up. "twice_smaller": twice the
        smaller tail, at most 1, as the criterion binomial has it; it also takes estimated counts.
    log : bool, default=False
        Return the natural logarithm, which does not underflow.

    Examples
    --------
    >>> f"{binomial_p(30, 100, 0.15):.3e}"
    '1.206e-04'
    >>> f"{binomial_p(30, 100, 0.15, method='twice_smaller'):.3e}"
    '2.110e-04'
    >>> round(binomial_p(90_000, 100_000, 0.1, log=True), 1)
    -175783.4
    >>> binomial_p(12.5, 100, 0.1)
    Traceback (most recent call last):
        ...
    ValueError: binomial_p: method='exact' adds up whole outcomes; got k=12.5 of n=100: use 'twice_smaller'
    """
    if method not in ("exact", "twice_smaller"):
        raise ValueError(f"binomial_p: method must be 'exact' or 'twice_smaller'; got {method!r}")
    for name, value in (("k", k), ("n", n), ("rate", rate)):
        if not np.isscalar(value) or not np.isfinite(_numbers("binomial_p", name, value)):
            raise ValueError(f"binomial_p: {name} must be a finite number; got {value!r}")
    if not 0 <= rate <= 1:
        raise ValueError(f"binomial_p: rate must be between 0 and 1; got {rate!r}")
    if not 0 <= k <= n:
        raise ValueError(f"binomial_p: k must be between 0 and n; got k={k!r} of n={n!r}")
    if method == "twice_smaller":
        found = _kernel.log_two_sided(float(k), float(n), float(rate))
    elif k != int(k) or n != int(n):
        raise ValueError(
            f"binomial_p: method='exact' adds up whole outcomes; got k={k!r} of n={n!r}: use 'twice_smaller'"
        )
    else:
        found = _log_exact(int(k), int(n), float(rate))
    return float(found) if log else math.exp(found)


def _log_exact(k: int, n: int, rate: float) -> float:
    """Add up both tails: from k outwards, and from the first outcome on the other side no likelier than k."""
    if rate in (0.0, 1.0):
        return 0.0 if k == n * rate else -math.inf
    mode = int((n + 1) * rate)
    if k == mode:
        return 0.0
    bound = _log_chance(k, n, rate) + math.log1p(_ALIKE)
    # Chances fall from the mode outwards, so the border on the other side is found by halving.
    if k < mode:
        other = _first(mode, n + 1, lambda i: _log_chance(i, n, rate) <= bound)
        tails = [_log_tail(k, n, rate, upper=False), _log_tail(other, n, rate, upper=True)]
    else:
        other = mode - _first(0, mode + 1, lambda i: _log_chance(mode - i, n, rate) <= bound)
        tails = [_log_tail(k, n, rate, upper=True), _log_tail(other, n, rate, upper=False)]
    return min(0.0, float(np.logaddexp(tails[0], tails[1])))


def _log_chance(k: int, n: int, rate: float) -> float:
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return float(ways + xlogy(k, rate) + xlog1py(n - k, -rate))


def _first(low: int, high: int, holds: Any) -> int:
    """Return the least i in [low, high) for which a monotone condition holds; high if there is none."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _log_tail(k: int, n: int, rate: float, *, upper: bool) -> float:
    """Return ln P(X ≥ k) or ln P(X ≤ k), for a k on that side of the mode."""
    if k < 0 or k > n:
        return -math.inf
    from scipy.stats import binom

    plain = float(binom.sf(k - 1, n, rate) if upper else binom.cdf(k, n, rate))
    # Far out scipy's tail is 0, and is by far the smaller one, of which the kernel knows the logarithm.
    return math.log(plain) if plain > 1e-250 else _kernel.log_two_sided(k, n, rate) - _LOG_2


def normal_quantile(caller: str, level: float) -> float:
    """Return z for a two-sided level, after checking it."""
    if not isinstance(level, (float, np.floating)) or not 0 < level < 1:
        raise ValueError(f"{caller}: level must be a number between 0 and 1, such as 0.95; got {level!r}")
    return float(ndtri((1 + level) / 2))


def _numbers(caller: str, name: str, value: Any) -> Floats:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{caller}: {name} must be a number or numbers; got {value!r}") from None
    return numbers
