"""Model files mutated at random are refused, or give the same model, or at least one that predicts soundly.

    python mutate_model_files.py COUNT [FIRST]

Two thirds have their bytes changed: those are refused, or the model is equal. One third has a right
checksum made for the change: those are refused, or what is predicted is possible: leaves that are leaves,
classes of the model, shares that add up to 1. A crash ends the program, a hang is ended by an alarm.
"""

import copy
import json
import random
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from naive.models import as_estimator, random_model
from naive.mutations import mutate, mutated_bytes, resealed, seal

from thetatree.export.model_file import read_model, save_model


def originals():
    """Small models of every kind: their bytes, document, table, and what they say of it."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        for seed in range(200):
            case = random_model(seed, rows=6)
            if not 2 < case.tree.node_count < 12 or len(out) == 16:
                continue
            model = as_estimator(case.model)
            save_model(model, path)
            data = path.read_bytes()
            out.append((data, json.loads(data), case, model.apply(case.table)))
    return out


def sound(model, table: pd.DataFrame) -> None:
    """Raise AssertionError unless everything predicted is possible. A refusal is a ValueError."""
    leaves = model.apply(table)
    tree = model.tree_
    assert tree.is_leaf[leaves].all()
    said = model.predict(table)
    assert len(said) == len(table)
    if tree.classes is None:
        assert np.isfinite(said).all()
        return
    assert set(said.tolist()) <= set(model.classes_.tolist())
    shares = model.predict_proba(table)
    assert shares.shape == (len(table), len(model.classes_))
    assert (shares >= 0).all() and np.allclose(shares.sum(axis=1), 1, atol=1e-5)


def mutation(number: int, models) -> str:
    """Make one mutation and see; return what became of it."""
    chance = random.Random(number)
    data, document, case, leaves = models[chance.randrange(len(models))]
    kind = number % 3
    if kind < 2:
        changed = mutated_bytes(data, chance)
    elif chance.random() < 0.3:
        changed = resealed(mutated_bytes(data, chance))
    else:
        document = copy.deepcopy(document)
        for _ in range(chance.choice([1, 1, 2])):
            mutate(document, chance)
        seal(document)
        changed = json.dumps(document).encode()
    try:
        model = read_model(changed, "m.json")
    except ValueError:
        return "refused"
    if kind < 2:
        assert model.tree_ == (case.tree) and np.array_equal(model.apply(case.table), leaves)
        return "equal"
    try:
        sound(model, case.table)
    except ValueError:
        return "refused by predict"
    return "sound"


def main(count: int, first: int = 0) -> dict[str, int]:
    def too_long(*_):
        raise TimeoutError("a mutation hangs")

    signal.signal(signal.SIGALRM, too_long)
    models = originals()
    found: dict[str, int] = {}
    for number in range(first, first + count):
        signal.alarm(20)
        try:
            became = mutation(number, models)
        except BaseException:
            print(f"mutation {number}", file=sys.stderr)
            raise
        found[became] = found.get(became, 0) + 1
    signal.alarm(0)
    print(f"{count} mutations from {first}: {json.dumps(found, sort_keys=True)}", flush=True)
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
