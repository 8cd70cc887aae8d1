"""scikit-learn's own checks: all pass, none is skipped, none is expected to fail."""

import json
import os
import subprocess
import sys

import pytest

# The array API switch is read when scipy is imported, so the checks run in a process of their own.
PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
from sklearn.utils.estimator_checks import check_estimator
import thetatree as tt
wrapped = {"DecisionStrategy": lambda: tt.judge.DecisionStrategy(tt.CARTClassifier(max_depth=3))}
make = wrapped.get(sys.argv[1]) or getattr(tt, sys.argv[1])
results = check_estimator(make(), on_fail=None, on_skip=None)
keys = ("check_name", "status", "exception", "expected_to_fail")
print(json.dumps([[r[key] for key in keys] for r in results], default=repr))
"""


NAMES = [
    "AIDRegressor",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "DecisionStrategy",
    "THAIDClassifier",
]


@pytest.mark.parametrize("name", NAMES)
def test_check_estimator(name):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(done.stdout.splitlines()[-1])
    assert len(results) > 40
    assert [r for r in results if r[1] != "passed"] == []
    assert [r for r in results if r[3]] == []
