"""Many Python threads, forked processes and joblib: the same trees as alone."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV

import thetatree as tt

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4000, 6))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=4000) > 0).astype(int)
SET = tt.sketch(
    pd.DataFrame(X > 0.3, columns=list("abcdef")).assign(id=range(4000), y=Y), key="id", target="y", lg_k=9
)

# In a fork of a process with threads the thread sanitizer loses its count of them.
FORKS = pytest.mark.skipif(
    not hasattr(os, "fork") or "tsan" in os.environ.get("LD_PRELOAD", ""), reason="no fork here"
)


def leaves(n_jobs: int) -> list[np.ndarray]:
    """What trees of every kind say, fitted here and now on this many kernel threads."""
    cart = tt.CARTClassifier(max_depth=6, n_jobs=n_jobs).fit(X, Y)
    median = tt.CARTRegressor(criterion="absolute_error", max_depth=3, n_jobs=n_jobs).fit(X, X[:, 1])
    c45 = tt.C45Classifier(n_jobs=n_jobs).fit(X, Y)
    theta = tt.ThetaSketchDecisionTreeClassifier(n_jobs=n_jobs).fit(SET)
    return [
        cart.predict_proba(X),
        median.predict(X),
        c45.predict_proba(X),
        theta.predict_proba(pd.DataFrame(X > 0.3, columns=list("abcdef"))),
    ]


@pytest.fixture(scope="module")
def alone():
    return leaves(1)


def same(one, other) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_many_python_threads_at_once(alone):
    gate = threading.Barrier(6)

    def work(number):
        gate.wait()
        return leaves(1 + number % 2)

    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(work, range(6)):
            assert same(found, alone)


def test_one_model_is_asked_by_many_threads():
    model = tt.CARTClassifier(max_depth=6).fit(X, Y)
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: model.predict_proba(X), range(24)):
            assert np.array_equal(found, expected)


def test_one_set_is_grown_from_by_many_threads(alone):
    with ThreadPoolExecutor(6) as pool:
        models = list(
            pool.map(lambda _: tt.ThetaSketchDecisionTreeClassifier(n_jobs=2).fit(SET.merge(SET)), range(12))
        )
    assert len({str(model.tree_.to_frame().to_csv()) for model in models}) == 1


@FORKS
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_after_a_fit(alone):
    assert same(leaves(2), alone)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if same(leaves(2), alone) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@FORKS
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_multiprocessing(alone):
    assert same(leaves(2), alone)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map(leaves, [1, 2]):
            assert same(found, alone)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(alone, backend):
    for found in Parallel(n_jobs=2, backend=backend)(delayed(leaves)(1 + i % 2) for i in range(4)):
        assert same(found, alone)


@pytest.mark.parametrize("estimator", [tt.CARTClassifier(), tt.C45Classifier()])
def test_a_grid_search_on_two_jobs(estimator):
    grid = {"max_depth": [2, 3, 4]}
    one = GridSearchCV(estimator, grid, cv=3, n_jobs=1).fit(X, Y)
    two = GridSearchCV(estimator, grid, cv=3, n_jobs=2).fit(X, Y)
    assert one.best_params_ == two.best_params_
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_what_a_daemon_thread_still_holds_is_not_complained_of():
    program = (
        "import threading, time, thetatree as tt\n"
        "model = tt.CARTClassifier().fit([[1.0], [2.0]], [0, 1])\n"
        "model.predict([[1.0]])\n"
        "threading.Thread(target=lambda held=model: time.sleep(600), daemon=True).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
