"""Models of every kind that a report can show, and rows to try on them."""

import numpy as np
import pandas as pd

import thetatree as tt
from thetatree.data.features import Feature

NASTY = ('a "quoted" name', "x < y & z", "</script><script>alert(1)</script>", "größe → Ω", "it's", "<!-- c")


def table(rng, n=300, names=NASTY):
    """Numbers with gaps, a flag with gaps, text, whole-number and long-tailed categories."""
    frame = pd.DataFrame(
        {
            names[0]: rng.normal(size=n) * 10.0 ** rng.integers(-6, 7),
            names[1]: rng.integers(0, 9, n).astype(float),
            names[2]: rng.choice([True, False, None], n),
            names[3]: rng.choice(["Ä", "<b>", "</script>", '"', "plain"], n),
            names[4]: pd.Categorical(rng.choice([1, 2, 3, 5], n)),
            names[5]: rng.choice([f"level {i}" for i in range(60)], n),
        }
    )
    for name in (names[0], names[3]):
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


def target(rng, frame, n_classes):
    noise = rng.normal(size=len(frame))
    score = frame.iloc[:, 0].rank().fillna(0) / len(frame) + 0.2 * frame.iloc[:, 1] + noise
    score += frame.iloc[:, 3].isin(["Ä", '"']) + frame.iloc[:, 5].isin([f"level {i}" for i in range(20)])
    if n_classes == 0:
        return score.to_numpy()
    labels = np.array(["no <", "yes &", "it's", '"so"', "so-so", "other"])
    return labels[pd.qcut(score, n_classes, labels=False).to_numpy() % len(labels)]


def learners(rng):
    depth = int(rng.integers(2, 8))
    return [
        (tt.CARTClassifier(max_depth=depth), 2),
        (tt.CARTClassifier(max_depth=depth, criterion="entropy", missing="majority"), 5),
        (tt.CARTRegressor(max_depth=depth, criterion="absolute_error"), 0),
        (tt.AIDRegressor(max_depth=depth), 0),
        (tt.THAIDClassifier(max_depth=depth), 3),
    ]


def others(rng, frame, n=30):
    """Rows like those of a frame, with values that training did not see and more that are missing."""
    rows = frame.sample(n, replace=True, random_state=int(rng.integers(1 << 30))).reset_index(drop=True)
    unseen = {3: "never seen", 5: "nor this"}
    columns = {}
    for j, name in enumerate(rows.columns):
        values = rows[name].astype(object).where(rng.random(n) > 0.1, None)
        if j in unseen:
            values = values.where(rng.random(n) > 0.1, unseen[j])
        columns[name] = values.astype(float) if j < 2 else values
    return pd.DataFrame(columns)


def multiway():
    """A tree with branches for categories, one of two labels, and a subset below."""
    features = (
        Feature("colour", "category", ("blue", "green", "red", "white"), True),
        Feature("size", "number"),
    )
    n = 8
    arrays = {
        "kind": [4, 0, 1, 0, 0, 3, 0, 0],
        "feature": [0, -2, 1, -2, -2, 0, -2, -2],
        "threshold": [np.nan, -2, 2.5, -2, -2, np.nan, -2, -2],
        "child_start": [0, 3, 3, 5, 5, 5, 7, 7, 7],
        "child": [1, 2, 5, 3, 4, 6, 7],
        "category_start": [0, 3, 3, 3, 3, 3, 4, 4, 4],
        "category": [0, 1, 2, 2],
        "category_branch": [0, 1, 2, 0],
        "missing_branch": [1, -1, 1, -1, -1, 0, -1, -1],
        "impurity": np.zeros(n),
        "score": np.full(n, 0.1),
        "impurity_decrease": np.full(n, 0.1),
        "weighted_n_node_samples": [100.0, 20, 50, 20, 30, 30, 10, 20],
        "n_node_samples": [100, 20, 50, 20, 30, 30, 10, 20],
        "value": [0.5, 0.5, 0.9, 0.1, 0.4, 0.6, 0.1, 0.9, 0.6, 0.4, 0.3, 0.7, 0.8, 0.2, 0.05, 0.95],
    }
    return tt.Tree.from_arrays(
        {name: np.asarray(values) for name, values in arrays.items()}, features, ("no", "yes"), "gini"
    )


def sketched(n=20_000, lg_k=10, seed=0):
    """A tree grown from sketches of numbers, a category with rare values, tags and a flag; and its rows."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "plan": rng.choice(["basic", "plus", "family"], n),
            "town": [f"town {i}" for i in np.minimum(rng.geometric(0.05, n), 90)],
            "tags": [
                rng.choice(["a", "b", "c"], int(k), replace=False).tolist() for k in rng.integers(0, 3, n)
            ],
            "mobile": rng.random(n) < 0.4,
        }
    )
    hot = np.array(["b" in tags for tags in frame.tags])
    rare = ~frame.town.isin([f"town {i}" for i in range(1, 5)])
    risk = 0.1 + 0.2 * rare + 0.4 * (frame.age < 35) + 0.3 * hot * (frame.plan == "plus")
    outcome = np.where(rng.random(n) < risk, "left", "stayed")
    whole = frame.assign(id=np.arange(n), outcome=outcome)
    sketches = tt.sketch(whole, key="id", target="outcome", lg_k=lg_k, max_categories=8)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=5, significance=None, min_held=3).fit(sketches)
    return model, frame, outcome, sketches
