"""The table of complexity parameters against a plain reckoning: prune each fold's tree, predict, add up."""

import numpy as np
import pytest
from sklearn import datasets

import thetatree as tt
from thetatree.tree.cp_table import choose, cp_table
from thetatree.tree.held_out import HeldOut, row_losses


def by_hand(tree, X, y, folds, loss):
    """One line per distinct alpha: (alpha, splits, training error, cross-validated error, its spread)."""
    alphas = tree.cost_complexity_path()[0]
    distinct = [0.0]
    for alpha in alphas[alphas > 1e-10 * alphas[-1]]:
        if alpha - distinct[-1] > 1e-10 * alphas[-1]:
            distinct.append(alpha)
        else:
            distinct[-1] = alpha
    predicted = lambda t, rows: t.values[t.apply(rows)]  # noqa: E731
    lines = []
    for k, alpha in enumerate(distinct):
        between = np.sqrt(alpha * distinct[k + 1]) if k + 1 < len(distinct) else 1e300
        pruned = tree.prune(ccp_alpha=alpha)
        losses = np.concatenate(
            [loss(predicted(grown.prune(ccp_alpha=between), X[part]), y[part]) for grown, part in folds]
        )
        spread = np.sqrt((losses**2).sum() - losses.sum() ** 2 / len(losses))
        trained = loss(predicted(pruned, X), y).sum()
        lines.append((alpha, pruned.n_leaves - 1, trained, losses.sum(), spread))
    return np.array(lines[::-1])


def wrong(values, y):
    return (values.argmax(axis=1) != y).astype(float)


def squared(values, y):
    return (values[:, 0] - y) ** 2


def absolute(values, y):
    return np.abs(values[:, 0] - y)


@pytest.mark.parametrize(
    ("name", "criterion", "loss"),
    [
        ("iris", "gini", wrong),
        ("breast_cancer", "entropy", wrong),
        ("wine", "theta", wrong),
        ("diabetes", "squared_error", squared),
        ("diabetes", "absolute_error", absolute),
    ],
)
def test_every_line(name, criterion, loss):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    made = tt.CARTRegressor if name == "diabetes" else tt.CARTClassifier
    model = made(criterion=criterion, min_samples_leaf=4, max_leaf_nodes=40)
    tree = model.fit(X, y).tree_
    fold = np.random.default_rng(0).permutation(len(y)) % 5
    folds = [(made(**model.get_params()).fit(X[fold != i], y[fold != i]).tree_, fold == i) for i in range(5)]
    table = cp_table(
        tree,
        row_losses(tree, tree.apply(X), y),
        [(grown, row_losses(grown, grown.apply(X[part]), y[part])) for grown, part in folds],
    )
    expected = by_hand(tree, X, y, folds, loss)
    root = expected[0, 2]
    assert list(table.columns) == ["CP", "nsplit", "rel error", "xerror", "xstd", "alpha", "choice"]
    np.testing.assert_allclose(table["alpha"], expected[:, 0])
    np.testing.assert_allclose(table["CP"], expected[:, 0] / tree.impurity[0])
    np.testing.assert_array_equal(table["nsplit"], expected[:, 1])
    np.testing.assert_allclose(table["rel error"], expected[:, 2] / root)
    np.testing.assert_allclose(table["xerror"], expected[:, 3] / root)
    np.testing.assert_allclose(table["xstd"], expected[:, 4] / root)
    assert (table["nsplit"].iloc[0], table["rel error"].iloc[0]) == (0, 1.0)
    best = int(np.argmin(expected[:, 3]))
    limit = expected[best, 3] + expected[best, 4]
    one = next(k for k in range(len(expected)) if expected[k, 3] <= limit)
    assert (choose(table, "cv"), choose(table, "cv-1se")) == (best, one)
    assert table["choice"].iloc[one].endswith("cv-1se")
    assert table["choice"].iloc[best].startswith("cv")
    assert table["choice"].ne("").sum() == len({best, one})


def test_weights_and_doubt():
    """Weights are those of rpart: Σ w e and Σ w e²; doubt adds to the variance."""
    tree = tt.CARTRegressor(max_depth=1).fit([[0], [1]], [0.0, 4.0]).tree_
    held = row_losses(tree, np.array([1, 2]), np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    assert held.loss.tolist() == [2 * 1.0 + 4.0, 2.0, 0.0]
    assert held.squares.tolist() == [2 * 1.0 + 16.0, 2.0, 0.0]
    training = row_losses(tree, np.array([1, 2]), np.array([0.0, 4.0]))
    plain = cp_table(tree, training, [(tree, held)])
    assert plain["xerror"].tolist() == pytest.approx([6 / 3 / 4, 2 / 3 / 4])
    assert plain["xstd"].tolist() == pytest.approx([np.sqrt(18 - 36 / 3) / 12, np.sqrt(2 - 4 / 3) / 12])
    doubted = HeldOut(held.loss, held.squares, np.full(3, 5.0), held.weight)
    assert cp_table(tree, training, [(tree, doubted)])["xstd"].tolist() == pytest.approx(
        [np.sqrt(6 + 5) / 12, np.sqrt(2 - 4 / 3 + 10) / 12]
    )


def test_a_single_leaf_has_one_line():
    tree = tt.CARTRegressor().fit([[1.0], [1.0]], [2.0, 4.0]).tree_
    losses = row_losses(tree, np.array([0, 0]), np.array([2.0, 4.0]))
    table = cp_table(tree, losses, [(tree, losses)])
    assert table.drop(columns="choice").to_numpy().tolist() == [[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]]
    assert table["choice"].tolist() == ["cv, cv-1se"]
    pure = tt.CARTClassifier().fit([[1.0], [2.0]], [1, 1]).tree_
    losses = row_losses(pure, np.array([0, 0]), np.array([0, 0]))
    assert np.isfinite(cp_table(pure, losses, [(pure, losses)]).drop(columns="choice")).all().all()
