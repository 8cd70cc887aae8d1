import math

import datasketches as ds
import numpy as np
import pyarrow as pa
import pytest
from naive import sketch as naive

from thetatree import _kernel
from thetatree.sketch.wire import arrow_bytes


def peer(key, seed=9001):
    sketch = ds.update_theta_sketch(5, 1.0, seed)
    sketch.update(key)
    return next(iter(sketch.compact()), 0)


@pytest.mark.parametrize("seed", [9001, 0, 7, (1 << 64) - 1])
def test_seed_hash(seed):
    expected = naive.murmur(seed.to_bytes(8, "little"), 0) & 0xFFFF
    assert _kernel.seed_hash(seed) == expected


def test_integers():
    rng = np.random.default_rng(0)
    keys = np.r_[0, 1, -1, 2**63 - 1, -(2**63), rng.integers(-(2**63), 2**63 - 1, 500)]
    found = _kernel.hash_int64(keys, 9001, None)
    assert list(found) == [peer(int(key)) for key in keys]
    assert list(found) == [naive.hash_key(int(key)) for key in keys]


def test_floats_have_one_zero_and_one_nan():
    rng = np.random.default_rng(0)
    odd = [0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324]
    keys = np.r_[odd, np.frombuffer(np.uint64(0xFFF8000000000123).tobytes()), rng.normal(size=300)]
    found = _kernel.hash_float64(keys, 9001, None)
    assert list(found) == [peer(float(key)) for key in keys]
    assert found[0] == found[1]
    assert found[2] == found[3] == found[7]


def test_text_of_every_length():
    rng = np.random.default_rng(0)
    keys = ["", "ä", "日本", *("".join(chr(c) for c in rng.integers(32, 1000, n)) for n in range(70))]
    for array in (pa.array(keys), pa.array(keys, pa.large_string()), pa.array(["x", *keys])[1:]):
        found = _kernel.hash_text(*arrow_bytes(array), 9001, None)
        assert list(found) == [peer(key) if key else 0 for key in keys]
        assert list(found) == [naive.hash_key(key) for key in keys]


def test_missing_keys_and_other_seeds():
    mask = np.array([1, 0, 1], np.uint8)
    for hashed in (
        _kernel.hash_int64(np.arange(3), 5, mask),
        _kernel.hash_float64(np.arange(3.0), 5, mask),
        _kernel.hash_text(*arrow_bytes(pa.array(["0", "1", "2"])), 5, mask),
    ):
        assert hashed[1] == 0
        assert hashed[0] != 0
    assert _kernel.hash_int64(np.arange(3), 5, None)[2] == peer(2, 5)
