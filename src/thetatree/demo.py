"""`make demo`: a tree from the sketches of three tables that are never joined, beside the exact tree.

A million customers are made on the spot. profile has one row for each; visits and orders have several rows
for some customers and none for others. Each table is sketched on its own, the sketches are merged, a tree is
grown, and only then are the tables joined, to see what the sketches have cost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

from thetatree.export.model_file import load_model
from thetatree.export.text import to_text
from thetatree.learn.cart import CARTClassifier
from thetatree.learn.theta import ThetaSketchDecisionTreeClassifier
from thetatree.sketch.build import sketch
from thetatree.sketch.sketch_set import SketchSet

KEY, TARGET = "customer", "outcome"
LG_K = 14
DEPTH = 4
PLANS = ("basic", "business", "family", "plus", "student")
PAGES = ("account", "cancel", "help", "home", "offers")
ITEMS = ("cable", "phone", "repair", "router", "tablet")

# What each owner tells the builder. Of a customer's several rows any one will do: a page, an item and a flag
# hold if they do in one of them, and so does "days ≤ 30", which makes it the latest visit or order.
HOW: dict[str, dict[str, Any]] = {
    "profile": {"target": TARGET, "form": "class_free"},
    "visits": {"features": {"page": "multi", "mobile": None, "days since visit": None}, "conflicts": "any"},
    "orders": {"features": {"item": "multi", "returned": None, "days since order": None}, "conflicts": "any"},
}

EXPLAINED = """\
Only profile knows who left, so all three are sketched class-free: at each node profile's two class sketches
tell the classes apart. A customer without a row in visits (orders) is missing there, not absent, and follows
the heavier branch; the flags "visited" and "ordered", made of those tables' own totals, say who that is.
Ten times the customers would take sketches of the same size.
"""

Numbers = NDArray[Any]


class Tables(NamedTuple):
    """What three owners have: rows with the same customer ids."""

    profile: pd.DataFrame
    visits: pd.DataFrame
    orders: pd.DataFrame


def make_tables(n: int, seed: int = 0) -> Tables:
    """Make n customers, and whether each left within the year."""
    rng = np.random.default_rng(seed)
    ids = 100_001 + np.arange(n)
    months, plan, autopay = rng.integers(0, 72, n), rng.choice(5, n, p=_shares(8, 1, 4, 5, 2)), rng.random(n)
    viewer = np.repeat(np.arange(n), rng.poisson(2.2, n) * (rng.random(n) < 0.9))
    page = rng.choice(5, len(viewer), p=_shares(30, 4, 12, 44, 10))
    visits = pd.DataFrame(
        {
            KEY: ids[viewer],
            "page": _text(PAGES, page),
            "mobile": rng.random(len(viewer)) < 0.5,
            "days since visit": rng.integers(0, 365, len(viewer)),
        }
    )
    buyer = np.repeat(np.arange(n), rng.poisson(1.6, n) * (rng.random(n) < 0.75))
    item = rng.choice(5, len(buyer), p=_shares(10, 10, 2, 6, 4))
    days = np.minimum(364, rng.exponential(120, len(buyer))).astype(np.int64)
    orders = pd.DataFrame(
        {
            KEY: ids[buyer],
            "item": _text(ITEMS, item),
            "returned": rng.random(len(buyer)) < 0.08,
            "days since order": days,
        }
    )
    risk = -2.3 + 1.7 * (months < 12) + 1.2 * (autopay >= 0.6) + 0.8 * np.isin(plan, [0, 4]) * (months < 24)
    risk += 3.2 * _in_any_row(viewer, page == PAGES.index("cancel"), n)
    risk += 1.4 * _in_any_row(viewer, page == PAGES.index("help"), n) * (months < 36)
    risk += 1.5 * _in_any_row(buyer, item == ITEMS.index("repair"), n)
    risk -= 1.6 * _in_any_row(buyer, days < 60, n)
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "left", "stayed")
    profile = pd.DataFrame(
        {KEY: ids, "months": months, "plan": _text(PLANS, plan), "autopay": autopay < 0.6, TARGET: outcome}
    )
    return Tables(profile, visits, orders)


def _in_any_row(who: Numbers, holds: Numbers, n: int) -> Numbers:
    return np.bincount(who[holds], minlength=n) > 0


def _shares(*weights: float) -> Numbers:
    return np.asarray(weights, float) / sum(weights)


def _text(names: tuple[str, ...], codes: NDArray[np.int64]) -> Any:
    return pd.Categorical.from_codes(codes, pd.Index(names))


def join(tables: Tables) -> tuple[pd.DataFrame, pd.Series]:
    """Join what is never joined: one row for each customer, NaN where a table does not know the customer."""
    profile, visits, orders = tables
    place = pd.Index(profile[KEY])
    X = profile[["months", "plan", "autopay"]].copy()
    for table, known, tags, flag in (
        (visits, "visited", "page", "mobile"),
        (orders, "ordered", "item", "returned"),
    ):
        who = place.get_indexer(pd.Index(table[KEY]))
        X[known] = np.bincount(who, minlength=len(X)) > 0
        holds = {f"{tags}={tag}": (table[tags] == tag).to_numpy() for tag in table[tags].cat.categories}
        for name, rows in {**holds, flag: table[flag].to_numpy()}.items():
            X[name] = np.where(X[known], _in_any_row(who, rows, len(X)), np.nan)
        days = next(name for name in table.columns if name.startswith("days"))
        X[days] = table.groupby(KEY)[days].min().reindex(place).to_numpy()
    return X, profile[TARGET]


def make_customers(n: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Make customers as joined rows, and their outcomes."""
    return join(make_tables(n, seed))


def merge_owners(owned: dict[str, SketchSet]) -> SketchSet:
    """Merge, with two flags more: a table's own total says which of the profile's customers it knows."""
    profile, visits, orders = owned["profile"], owned["visits"], owned["orders"]
    seen = SketchSet.from_sketches(
        {
            None: {"total": _total(profile), "visited": _total(visits), "ordered": _total(orders)},
            **{label: {"total": _total(profile, label)} for label in profile.classes},
        },
        lg_k=LG_K,
    )
    return profile.merge(visits, orders, seen)


def _total(made: SketchSet, label: Any = None) -> bytes:
    rows = made.to_arrow().to_pylist()
    return bytes(next(row["sketch"] for row in rows if row["class"] == label and row["feature"] is None))


@contextmanager
def _timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{what:<60}{time.perf_counter() - start:8.3f} s")


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.2f} MB"


def _show_sizes(tables: Tables, owned: dict[str, SketchSet], merged: SketchSet, path: Path) -> None:
    print(f"\n{'':<10}{'rows':>12}{'in memory':>14}{'sketches':>10}{'held keys':>11}{'their size':>13}")
    for name, table, made in zip(owned, tables, owned.values(), strict=True):
        held, memory = len(made.data.column.hashes), int(table.memory_usage(index=False).sum())
        print(
            f"{name:<10}{len(table):>12,}{_size(memory):>14}{len(made):>10}{held:>11,}{_size(8 * held):>13}"
        )
    held = len(merged.data.column.hashes)
    print(f"{'merged':<36}{len(merged):>10}{held:>11,}{_size(path.stat().st_size):>13} as a file\n")


def _judge(name: str, model: Any, X: pd.DataFrame, y: pd.Series) -> str:
    shares = model.predict_proba(X)
    classes = list(model.classes_)
    accuracy = float(np.mean(np.asarray(model.predict(X)) == y.to_numpy()))
    auc = roc_auc_score(y == "left", shares[:, classes.index("left")])
    loss = log_loss(y, shares, labels=classes)
    return f"{name:<44}{accuracy:>10.4f}{auc:>10.4f}{loss:>10.4f}{model.get_n_leaves():>8}"


def _compare(
    tables: Tables, model: ThetaSketchDecisionTreeClassifier, again: Any
) -> tuple[pd.DataFrame, pd.Series]:
    """Judge the tree, as read from its file, beside the exact one; return the customers that judged them."""
    with _timed("joined the rows, for comparison only"):
        X, y = join(tables)
    exact = CARTClassifier(criterion="entropy", max_depth=DEPTH)
    with _timed("grew the exact tree on the joined rows"):
        exact.fit(X, y)
    held_X, held_y = make_customers(max(1, len(tables.profile) // 10), seed=1)
    same = bool((again.predict_proba(held_X) == model.predict_proba(held_X)).all())
    on = f"on {len(held_y):,} other customers"
    print(f"\n{on:<44}{'accuracy':>10}{'AUC':>10}{'log loss':>10}{'leaves':>8}")
    print(_judge("tree from sketches, tables never joined", again, held_X, held_y))
    print(_judge("exact tree on all joined rows", exact, held_X, held_y))
    print(f"{'always the more frequent outcome':<44}{held_y.value_counts(normalize=True).iloc[0]:>10.4f}")
    print(f"\nloaded from its file, the model predicts the same: {same}")
    return held_X, held_y


def main(n: int = 1_000_000) -> None:
    """Run the demo; the last lines are the paths of what it wrote, the report's the very last."""
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    model_path, set_path = folder / "customers.json", folder / "customers.parquet"
    with _timed(f"made {n:,} customers in three tables"):
        tables = make_tables(n)
    owned = {}
    for name, table in tables._asdict().items():
        with _timed(f"sketched {name}, alone, at most {2**LG_K:,} hashes a sketch"):
            owned[name] = sketch(table, KEY, lg_k=LG_K, **HOW[name])
    with _timed("merged the three sketch sets"):
        merged = merge_owners(owned)
    merged.write(set_path)
    model = ThetaSketchDecisionTreeClassifier(criterion="entropy", max_depth=DEPTH)
    with _timed("grew a tree from the sketches"):
        model.fit(merged)
    model.save(model_path)
    _show_sizes(tables, owned, merged, set_path)
    print(EXPLAINED)
    print(to_text(model, decimals=0))
    print("(± is half of a 95% interval, not adjusted for the splits having been chosen)\n")

    held_out = _compare(tables, model, load_model(model_path))
    print(f"the sketch set and the model:\n{set_path.resolve()}\n{model_path.resolve()}")
    report_path = model.report(folder / "customers.html", held_out, title="Who leaves within the year")
    print(f"a report on the tree, to open in any browser:\n{report_path.resolve()}")


if __name__ == "__main__":
    main()
