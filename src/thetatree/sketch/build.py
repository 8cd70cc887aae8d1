"""Sketches from rows: one pass, bounded memory, any number of rows for a key.

A key has a value if any of its rows has it; it is known for a feature if any of its rows has one. What one
key may have only one of (a category, a number, the class) must not differ between its rows: that is found
among the held keys and refused, or allowed for features by ``conflicts="any"``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from thetatree.data.threads import n_threads
from thetatree.sketch.batches import Batch, Source, Values, source_of, told
from thetatree.sketch.coders import Coder, Codes
from thetatree.sketch.data import Label, SketchData
from thetatree.sketch.errors import BuildError
from thetatree.sketch.finish import finish
from thetatree.sketch.key_build import sample_keys
from thetatree.sketch.keys import KeyType
from thetatree.sketch.kinds import Kind
from thetatree.sketch.plan import Conflicts, HashedPlan, Plan, make_plan, prepare
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sketchers import FeatureSketcher, Keys, Samples
from thetatree.sketch.tuple_build import TargetRows, target_of_sums, with_sums
from thetatree.sketch.wire import DEFAULT_SEED, seed_hash


def sketch(
    data: Any,
    key: str,
    target: str | None = None,
    features: Sequence[str] | Mapping[str, Kind | None] | None = None,
    *,
    lg_k: int = 12,
    bins: int = 32,
    edges: Mapping[str, Sequence[float]] | None = None,
    like: SketchSet | None = None,
    seed: int = DEFAULT_SEED,
    form: Literal["per_class", "class_free", "keys", "sums"] | None = None,
    max_categories: int = 100,
    conflicts: Conflicts = "error",
    key_type: KeyType | None = None,
    n_jobs: int | None = None,
    sql: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Any:
    """Sketch rows.

    Parameters
    ----------
    data
        A data frame (pandas, polars, Arrow, anything narwhals reads), a Parquet or CSV path, a list of these,
        an iterator of batches, a function that makes such an iterator, or a pattern of Parquet files such as
        ``"2026-*.parquet"``. With DuckDB installed also a pattern of others, a DuckDB relation, or a
        connection with ``sql``.
    key
        The column that says whose row it is: integers, text or floats. Rows without a key are passed over.
    target
        The class column. None makes class-free sketches of the features, for a table that knows no class.
    features
        The columns to sketch, or a dict from column to kind (``"flag"``, ``"category"``, ``"multi"``,
        ``"threshold"``, or None for the column type's own: booleans are flags, numbers thresholds, text
        categories, lists multi). All but key and target by default.
    lg_k
        Each sketch holds at most 2^lg_k hashes; 4 to 26.
    bins
        Numbers are cut at their quantiles into at most this many bins, found in a pass of their own.
    edges
        Cut points by column, instead of quantiles.
    like
        Take edges, kinds, features and category caps of this set, so that the result merges with it.
    seed
        The hash seed.
    form
        ``"per_class"`` (default with a target) sketches every value for each class. ``"class_free"`` sketches
        values over all keys, and each class apart. ``"sums"`` is for regression: sketches over all keys that
        carry the target, a number, summed over a key's rows. ``"keys"`` keeps whole rows, those of the keys
        with the least hashes, for each class or, if the target is a float, over all.
    max_categories
        Categories beyond this many, the rarest, become ``"other"``.
    conflicts
        A key with several categories or numbers: ``"error"``, or ``"any"``: a category becomes multi, and a
        cut holds if it holds in any row. A key with several classes is always an error.
    key_type
        Convert keys to ``"int"``, ``"float"`` or ``"text"`` first. A key hashes differently in each.
    n_jobs
        Threads; None uses all cores. The result does not depend on it.
    sql
        A query that DuckDB derives the rows by; it calls what was given as data ``data``.
    progress
        Called after each batch with the number of rows so far.

    Returns
    -------
    SketchSet, or TupleSet (form="sums"), or KeySample (form="keys")
        Missing values (null, NaN, empty text) are not "absent": a feature that has any keeps a sketch of the
        keys it is known for.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {"id": range(6), "red": [True, False] * 3, "age": [20, 30, 40] * 2, "buys": list("yynnyn")}
    ... )
    >>> made = sketch(rows, key="id", target="buys")
    >>> made
    SketchSet(per_class, classes=('n', 'y'), features=2, sketches=8, held=15)
    >>> made.edges
    {'age': (20.0, 30.0)}
    """
    source = source_of(data, sql)
    _check_settings(lg_k, bins, max_categories)
    _check_choices(conflicts, form, target)
    seed_hash(seed)
    rows = None
    if form == "sums":
        named = (
            [name for name in source.columns() if name not in (key, target)] if features is None else features
        )
        rows = TargetRows(source, target_of_sums(target), [key, *named])
        source, features, target = Source(rows), named, None
    plan = make_plan(
        source,
        features,
        None if like is None else like.data,
        edges,
        key=key,
        target=target,
        lg_k=lg_k,
        bins=bins,
        seed=seed,
        class_free=target is None or form == "class_free",
        max_categories=max_categories,
        conflicts=conflicts,
        key_type=key_type,
    )
    if form == "keys":
        return sample_keys(plan, told(source.batches(plan.columns), key, progress))
    coders, batches = prepare(source, plan)
    made = SketchSet(_run(plan, coders, told(batches, plan.key, progress), n_threads(n_jobs)))
    return made if rows is None else with_sums(made, rows, key_type)


def sketch_hashes(
    table: pa.Table,
    column: str,
    *,
    target: str | None,
    features: Mapping[str, Kind | None],
    bins: int,
    edges: Mapping[str, Sequence[float]] | None,
) -> SketchData:
    """Sketch rows whose keys are hashed already, however many there are."""
    settings: dict[str, Any] = {"lg_k": max(4, len(table).bit_length()), "bins": bins, "seed": DEFAULT_SEED}
    settings |= {"max_categories": 100, "conflicts": "error", "key_type": None, "class_free": target is None}
    source = Source(table)
    plan = make_plan(source, features, None, edges, key=column, target=target, **settings)
    hashed = HashedPlan(**vars(plan))
    coders, batches = prepare(source, hashed)
    return _run(hashed, coders, batches, n_threads(None))


def _check_settings(lg_k: int, bins: int, max_categories: int) -> None:
    if not 4 <= lg_k <= 26:
        raise BuildError(f"lg_k={lg_k} is outside 4 to 26; 12 holds 4096 hashes for each sketch")
    if bins < 2:
        raise BuildError(f"bins={bins}: at least 2 are needed")
    if max_categories < 1:
        raise BuildError(f"max_categories={max_categories}: at least 1 is needed")


def _check_choices(conflicts: str, form: str | None, target: str | None) -> None:
    if conflicts not in ("error", "any"):
        raise BuildError(f"conflicts={conflicts!r} is neither 'error' nor 'any'")
    if form not in (None, "per_class", "class_free", "keys", "sums"):
        raise BuildError(f"form={form!r} is none of 'per_class', 'class_free', 'keys', 'sums'")
    if form == "per_class" and target is None:
        raise BuildError("form='per_class' needs a target column")


_TASKS = 4  # a thread and batch: features take unequal times


class TargetCoder:
    """Gives each class a code as it turns up."""

    def __init__(self, name: str, labels: Sequence[Label] = ()) -> None:
        self._name = name
        self.labels = list(labels)
        self._codes = {label: code for code, label in enumerate(self.labels)}

    def code(self, column: Values) -> Codes:
        """Code a batch."""
        array = pa.array(column) if isinstance(column, np.ndarray) else column
        if array.null_count or (pa.types.is_floating(array.type) and np.isnan(np.asarray(array)).any()):
            raise BuildError(
                f"target column {self._name!r} has missing values; drop those rows, or sketch them class-free"
            )
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        indices = np.asarray(array.indices, np.int64)
        texts = array.dictionary.to_pylist()
        table = np.full(len(texts), -1, np.int32)
        for at in np.flatnonzero(np.bincount(indices, minlength=len(texts))):
            table[at] = self._code_of(texts[at])
        codes: Codes = table[indices]
        return codes

    def _code_of(self, label: Any) -> int:
        if not isinstance(label, (str, int, float, bool)) or label == "":
            raise BuildError(
                f"target column {self._name!r} holds {label!r}; classes are text, numbers or booleans"
            )
        if len(self.labels) > 1000:
            raise BuildError(
                f"target column {self._name!r} has more than 1000 classes; is it a number to predict?"
            )
        code = self._codes.setdefault(label, len(self.labels))
        if code == len(self.labels):
            self.labels.append(label)
        return code


def _add(sketchers: Sequence[FeatureSketcher], batch: Batch, keys: Keys, totals: Samples) -> None:
    for one in sketchers:
        one.add(batch[one.name], keys, totals)


@contextmanager
def _workers(n_jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Open a pool that begins nothing more once an error or an interrupt has come."""
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _run(plan: Plan, coders: dict[str, Coder], batches: Iterator[Batch], n_jobs: int) -> SketchData:
    k = 1 << plan.lg_k
    hasher = plan.hasher()
    like = plan.like
    classes = TargetCoder(
        plan.target or "", like.classes if like is not None and plan.target is not None else ()
    )
    sketchers = [FeatureSketcher(name, coder, k) for name, coder in coders.items()]
    parts = [sketchers[first :: _TASKS * n_jobs] for first in range(min(_TASKS * n_jobs, len(sketchers)))]
    totals, class_totals = Samples(k), Samples(k)
    with _workers(n_jobs) as pool:
        for batch in batches:
            hashes = hasher(batch[plan.key])
            if not len(hashes):
                continue
            none = np.zeros(len(hashes), np.int32)
            codes = none if plan.target is None else classes.code(batch[plan.target])
            keys = (
                Keys.of(hashes, none, 1) if plan.class_free else Keys.of(hashes, codes, len(classes.labels))
            )
            work = [pool.submit(_add, part, batch, keys, totals) for part in parts]
            for done in work:
                done.result()
            totals.add(keys, none, 1)
            if plan.class_free and plan.target is not None:
                class_totals.add(Keys.of(hashes, codes, len(classes.labels)), none, 1)
    return finish(plan, sketchers, totals, class_totals, classes.labels, key_type=hasher.seen)
