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
results = check_estimator(getattr(tt, sys.argv[1])(), on_fail=None, on_skip=None)
keys = ("check_name", "status", "exception", "expected_to_fail")
print(json.dumps([[r[key] for key in keys] for r in results], default=repr))
"""


@pytest.mark.parametrize("name", ["AIDRegressor", "CARTClassifier", "CARTRegressor", "THAIDClassifier"])
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
