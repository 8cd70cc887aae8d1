"""`make demo`: a mixed data set made on the spot, a tree fitted, printed, saved, loaded and judged."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd

from thetatree.export.model_file import load_model
from thetatree.export.text import to_text
from thetatree.learn.cart import CARTClassifier


def make_customers(n: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Make customers with numbers, flags, categories and gaps, and whether each left within the year."""
    rng = np.random.default_rng(seed)
    months = rng.integers(0, 72, n)
    price = np.round(rng.gamma(6.0, 9.0, n), 2)
    price[rng.random(n) < 0.06] = np.nan
    frame = pd.DataFrame(
        {
            "months": months,
            "price": price,
            "plan": rng.choice(
                ["basic", "plus", "family", "student", "business"], n, p=[0.4, 0.25, 0.2, 0.1, 0.05]
            ),
            "autopay": rng.random(n) < 0.6,
            "called support": rng.random(n) < 0.25,
        }
    )
    risk = -1.2 + 1.6 * (months < 12) + 0.025 * np.nan_to_num(price, nan=90.0) - 1.1 * frame["autopay"]
    risk += 0.9 * frame["plan"].isin(["student", "basic"]) + 0.8 * frame["called support"] * (months < 24)
    left = rng.random(n) < 1 / (1 + np.exp(-risk))
    return frame, pd.Series(np.where(left, "left", "stayed"), name="outcome")


def main() -> None:
    """Run the demo; the last line is the path of what it wrote."""
    X, y = make_customers(40_000)
    held_X, held_y = make_customers(10_000, seed=1)
    print(f"{len(X):,} customers made; columns: {', '.join(X.columns)}\n")
    start = time.perf_counter()
    model = CARTClassifier(criterion="entropy", max_depth=4, min_samples_leaf=200).fit(X, y)
    print(f"fitted in {time.perf_counter() - start:.3f} s\n")
    print(to_text(model, decimals=1))
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    path = folder / "customers.json"
    model.save(path)
    again = load_model(path)
    same = bool((again.predict_proba(held_X) == model.predict_proba(held_X)).all())
    print(f"\nimportance: {dict(zip(X.columns, model.feature_importances_.round(3).tolist(), strict=True))}")
    print(f"loaded from its file, the model predicts the same: {same}")
    print(f"accuracy on {len(held_X):,} held-out customers: {again.score(held_X, held_y):.3f}")
    print(f"(always the more frequent outcome: {held_y.value_counts(normalize=True).iloc[0]:.3f})")
    print(path.resolve())


if __name__ == "__main__":
    main()
