"""The resolution rule, against the rows and against every chain of set operations.

THETATREE_RESOLUTION_NODES sets how many random nodes are tried.
"""

import itertools
import os

import datasketches
import numpy as np
import pandas as pd
import pytest
from naive import resolution as oracle
from naive import sketch as naive
from naive import sketched

import thetatree as tt
from thetatree.sketch import sources as counting

NODES = int(os.environ.get("THETATREE_RESOLUTION_NODES", "600"))
PER_PROBLEM = 10
FORMS = ("per_class", "one_vs_all", "class_free")
WAYS = ("direct", "built", "owners", "days")
CASES = [case for case in itertools.product(FORMS, WAYS) if case != ("one_vs_all", "built")]


def random_node(rng, data, n_classes):
    """A class, and the allowed cells of a few features."""
    tested = oracle.tested_of(data)
    apart = {key.feature for key in data.entries.keys if key.feature >= 0 and key.value < 0}
    allowed = {}
    for place in rng.permutation(len(tested))[: rng.integers(0, 5)]:
        one = tested[place]
        n = len(one.values)
        marks = [0] * (n + 2)
        if one.kind == "category":
            marks[: n + 1] = rng.integers(0, 2, n + 1).tolist()
        elif one.kind == "threshold":
            low, high = sorted(rng.integers(0, n + 1, 2))
            marks[low : high + 1] = [1] * (high - low + 1)
        else:
            marks[rng.integers(0, 2)] = 1
        if one.feature in apart and rng.random() < 0.1:
            marks[: n + 1] = [int(rng.integers(0, 2))] * (n + 1)  # known, or missing
        marks[-1] = int(rng.random() < 0.5) if any(marks) else 1
        if one.feature not in apart and not any(marks[:-1]):
            marks[0] = 1
        allowed[int(place)] = marks
    return int(rng.integers(0, n_classes)), allowed


def exact_below(theta):
    return theta / 2**63 if theta < oracle.EXACT else 1.0


def described(case, seed, data, klass, allowed):
    tested = counting.tested_features(data)
    return f"{case}, seed {seed}, class {klass}: " + str({tested[p].name: m for p, m in allowed.items()})


def judge(case, seed, rng, sources, rows, klass, allowed):
    data = sources.data
    hashes, tau = sources.resolve(klass, allowed)
    where = described(case, seed, data, klass, allowed)
    truth = oracle.true_keys(rows, data, klass, allowed)
    below = {h for h in truth if tau >= 1 or h / 2**63 < tau}
    assert {*map(int, hashes)} == below, f"{where}: wrong keys below τ = {tau}"
    assert len(hashes) == len(below), f"{where}: keys given twice"
    best = exact_below(oracle.best_chain(rows, data, klass, allowed))
    assert tau >= best, f"{where}: τ = {tau}, a chain reaches {best}"


@pytest.mark.parametrize("case", CASES, ids=map("-".join, CASES))
def test_held_keys_are_the_true_ones_at_the_best_theta(case):
    for seed in range(-(-NODES // (PER_PROBLEM * len(CASES)))):
        rng = np.random.default_rng([seed, CASES.index(case)])
        rows, made = sketched.make(rng, *case)
        sources = counting.sources_of(made.data, counting.tested_features(made.data))
        for _ in range(PER_PROBLEM):
            judge(case, seed, rng, sources, rows, *random_node(rng, made.data, len(sources.labels)))


class Sets:
    """Python's own set operations."""

    union = staticmethod(set.union)
    intersection = staticmethod(set.intersection)
    difference = staticmethod(set.difference)
    hashes = staticmethod(set)

    @staticmethod
    def read(hashes):
        return {*map(int, hashes)}


class Package:
    """The same by the datasketches package."""

    @staticmethod
    def read(hashes):
        image = naive.image(naive.Sketch(map(int, hashes)))
        return datasketches.compact_theta_sketch.deserialize(image)

    @staticmethod
    def union(a, b):
        both = datasketches.theta_union(12)
        both.update(a)
        both.update(b)
        return both.get_result()

    @staticmethod
    def intersection(a, b):
        both = datasketches.theta_intersection()
        both.update(a)
        both.update(b)
        return both.get_result()

    @staticmethod
    def difference(a, b):
        return datasketches.theta_a_not_b().compute(a, b)

    @staticmethod
    def hashes(sketch):
        assert sketch.theta == 1
        return {*sketch}


def by_operations(algebra, data, klass, allowed):
    """A node's keys, cell by cell, when all sketches are exact."""

    def read(label, *what, **which):
        found = data.entries.find(label, *what, **which)
        return None if found is None else algebra.read(data.column[found])

    if data.form == "per_class":
        features, node = klass, read(klass)
    elif data.form == "class_free":
        features, node = -1, read(klass)
    else:
        features, node = -1, read(0) if klass == 1 else algebra.difference(read(-1), read(0))
    total = read(features)
    tested = oracle.tested_of(data)
    for place, marks in allowed.items():
        one = tested[place]
        known = read(features, one.feature) or total
        present = [read(features, one.feature, value) for value in one.values]
        rest, cells = known, []
        for held in present:
            cells.append(algebra.intersection(rest, held))
            rest = algebra.difference(rest, held)
        cells += [rest, algebra.difference(total, known)]
        wanted = algebra.read([])
        for mark, cell in zip(marks, cells, strict=True):
            wanted = algebra.union(wanted, cell) if mark else wanted
        node = algebra.intersection(node, wanted)
    return algebra.hashes(node)


@pytest.mark.parametrize("case", CASES, ids=map("-".join, CASES))
def test_exact_sketches_count_as_sets_and_as_the_package_does(case):
    for seed in range(-(-300 // len(CASES))):
        rng = np.random.default_rng([7, seed, CASES.index(case)])
        rows, made = sketched.make(rng, *case, lg_k=12)
        assert made.data.column.exact.all()
        sources = counting.sources_of(made.data, counting.tested_features(made.data))
        for _ in range(3):
            klass, allowed = random_node(rng, made.data, len(sources.labels))
            hashes, tau = sources.resolve(klass, allowed)
            where = described(case, seed, made.data, klass, allowed)
            assert tau == 1, where
            truth = oracle.true_keys(rows, made.data, klass, allowed)
            assert {*map(int, hashes)} == truth, where
            assert by_operations(Sets, made.data, klass, allowed) == truth, where
            assert by_operations(Package, made.data, klass, allowed) == truth, where


# Each of these was found by the random nodes.

KEYS = sorted(range(3000), key=sketched.HASH.__getitem__)  # by hash


def held(keys, k=64):
    return naive.image(naive.Sketch.of([sketched.HASH[key] for key in keys], k))


def resolved(made, allowed, klass=0):
    """The node's keys and τ; allowed by name."""
    tested = counting.tested_features(made.data)
    places = {one.name: place for place, one in enumerate(tested)}
    sources = counting.sources_of(made.data, tested)
    hashes, tau = sources.resolve(klass, {places[name]: marks for name, marks in allowed.items()})
    return {*map(int, hashes)}, tau


def below(keys, tau):
    return {sketched.HASH[key] for key in keys if tau >= 1 or sketched.HASH[key] / 2**63 < tau}


def test_missing_keys_beyond_the_known_sketch_are_not_taken_for_absent():
    missing = set(KEYS[150:160])
    g = {*KEYS[::30], *missing}
    frame = pd.DataFrame(
        {
            "id": KEYS,
            "f": [None if key in missing else key % 50 == 0 for key in KEYS],
            "g": [key in g for key in KEYS],
            "y": "a",
        }
    )
    made = tt.sketch(frame, "id", "y", {"f": "flag", "g": "flag"}, lg_k=6)
    got, tau = resolved(made, {"f": [0, 1, 0], "g": [1, 0, 0]})
    assert got == below({key for key in g - missing if key % 50}, tau)


def test_owners_whose_keys_differ_only_beyond_the_sketches():
    """The totals of all and of one owner hold the same hashes, and yet other keys."""
    mine = set(KEYS) - set(KEYS[150:160])
    g = {*KEYS[::30], *KEYS[150:160]}
    first = tt.SketchSet.from_sketches({"p": {"total": held(mine), "f": held(KEYS[:1])}})
    second = tt.SketchSet.from_sketches({"p": {"total": held(KEYS), "g": held(g)}})
    got, tau = resolved(first.merge(second), {"f": [0, 1, 0], "g": [1, 0, 0]})
    assert got == below((g & mine) - {KEYS[0]}, tau)


def test_a_key_of_no_category_is_not_taken_for_one_of_another():
    none = set(KEYS[200:205])
    by_value = {value: set(KEYS[i::3]) - none for i, value in enumerate(("blue", "green", "red"))}
    g = {*KEYS[2::60], *none}
    named = {("c", value): held(keys, 64 if value == "red" else 512) for value, keys in by_value.items()}
    made = tt.SketchSet.from_sketches(
        {"p": {"total": held(KEYS), "g": held(g), **named}}, kinds={"c": "category"}
    )
    got, tau = resolved(made, {"c": [0, 0, 1, 0, 0], "g": [1, 0, 0]})
    assert got == below(by_value["red"] & g, tau)


def test_a_class_none_of_whose_keys_is_seen_is_not_empty():
    keys = KEYS[:1500]
    rare, red, blue = set(keys[300:320]), set(keys[::3]), set(keys[1::3])
    made = tt.SketchSet.from_sketches(
        {
            None: {"total": held(keys), ("c", "blue"): held(blue), ("c", "red"): held(red)},
            "q": {"total": held(rare)},
            "r": {"total": held(set(keys) - rare)},
        },
        kinds={"c": "category"},
    )
    got, tau = resolved(made, {"c": [0, 0, 1, 0]})
    assert got == below(rare - red - blue, tau)


def test_absent_keys_that_became_present_unseen():
    """Absent on one day and present on the next, by hashes so large that the sketches can not show it."""
    changed = set(KEYS[1000:1400:50])
    monday = set(KEYS[::50]) - changed
    g = {*changed, *KEYS[:10]}

    def day(present):
        absent = set(KEYS) - present
        flag = (held(present, 16), held(absent, 4096))
        return tt.SketchSet.from_sketches({"p": {"total": held(KEYS), "f": flag, "g": held(g)}})

    made = day(monday).merge(day({*changed, KEYS[0]}))
    got, tau = resolved(made, {"f": [1, 0, 0], "g": [1, 0, 0]})
    assert got == below((monday | changed) & g, tau)


def test_the_base_need_not_be_what_decides():
    """Absent is decided by the present sketch, at θ = 1, among the keys that the absent sketch holds."""
    rare = KEYS[::20]
    absent = set(KEYS) - set(rare)
    made = tt.SketchSet.from_sketches({"p": {"total": held(KEYS), "f": (held(rare, 512), held(absent, 512))}})
    got, tau = resolved(made, {"f": [0, 1, 0]})
    assert tau == pytest.approx(made.sketch("p", "f", "1", absent=True)[1])
    assert got == below(absent, tau)


def test_whoever_has_one_tag_is_known_to_have_tags():
    u, v = set(KEYS[::20]), set(KEYS[::15])
    named = {("t", None): held([*KEYS[:1500], *u, *v]), ("t", "u"): held(u), ("t", "v"): held(v)}
    made = tt.SketchSet.from_sketches({"p": {"total": held(KEYS), **named}}, kinds={"t": "multi"})
    got, tau = resolved(made, {"t=u": [1, 0, 0], "t=v": [0, 1, 0]})
    assert tau == pytest.approx(min(made.sketch("p", "t", value)[1] for value in "uv"))
    assert got == below(u - v, tau)


def test_any_of_a_class_own_sketches_may_tell_the_class():
    """Known keys of an owner, absent keys: the class's own sketch of them reaches farther than its total."""
    known = set(KEYS[::4])
    red = set(KEYS[::40])
    own = set(KEYS[::3])
    made = tt.SketchSet.from_sketches(
        {
            None: {"total": held(KEYS), "f": held(red), ("f", None): held(known)},
            "p": {"total": held(own), "f": held(red & own), ("f", None): held(known & own)},
        },
        kinds={"f": "flag"},
    )
    got, tau = resolved(made, {"f": [0, 1, 0]}, klass=0)
    assert tau >= min(made.sketch(None, "f")[1], made.sketch("p", "f")[1])
    assert got == below(known - red - own, tau)


def test_sketches_of_all_keys_decide_for_a_class_too():
    own = set(KEYS[::2])
    f, g = set(KEYS[::10]), set(KEYS[::3])
    made = tt.SketchSet.from_sketches(
        {
            None: {"total": held(KEYS, 4096), "f": held(f, 4096), "g": held(g, 4096)},
            "p": {"total": held(own, 16), "f": held(f & own, 256), "g": held(g & own, 16)},
        }
    )
    got, tau = resolved(made, {"f": [1, 0, 0], "g": [0, 1, 0]}, klass=1)
    assert tau == pytest.approx(made.sketch("p", "f", "1")[1])
    assert got == below((f & own) - g, tau)


def flags_from_common_to_rare(rng, n):
    """150 of them: more than two words of bits, and hashes that few of their sketches reach."""
    return {
        f"f{i:03d}": {key for key in KEYS if rng.random() < share}
        for i, share in enumerate(np.geomspace(0.6, 0.002, n))
    }


@pytest.mark.parametrize("crowded", [False, True])
def test_keys_of_many_sketches_and_keys_of_few(crowded):
    """The former are kept as rows of bits, the latter as lists: both tell the true keys."""
    rng = np.random.default_rng(5)
    hashes = dict(enumerate(sketched.HASH))
    if crowded:  # no hash function gives so many hashes side by side
        hashes |= {key: 2**50 + i for i, key in enumerate(KEYS[:400])}
    flags = flags_from_common_to_rare(rng, 150)

    def image(keys):
        return naive.image(naive.Sketch.of([hashes[key] for key in keys], 64))

    made = tt.SketchSet.from_sketches(
        {"p": {"total": image(KEYS), **{f: image(keys) for f, keys in flags.items()}}}
    )
    for _ in range(60):
        names = rng.choice(sorted(flags), int(rng.integers(1, 5)), replace=False)
        present = rng.random(len(names)) < 0.5
        truth = {*KEYS}
        for name, there in zip(names, present, strict=True):
            truth = truth & flags[name] if there else truth - flags[name]
        got, tau = resolved(
            made, {name: [int(t), int(not t), 0] for name, t in zip(names, present, strict=True)}
        )
        assert got == {hashes[key] for key in truth if tau >= 1 or hashes[key] / 2**63 < tau}


def test_hashes_that_no_hash_function_gave():
    """Crowded together but for one: put in order all the same, and not by inserting each."""
    keys = np.append(np.arange(1, 60_001, dtype=np.uint64), np.uint64(1) << np.uint64(62))
    rng = np.random.default_rng(0)
    has = {name: rng.random(len(keys)) < 0.5 for name in "fg"}
    sketches = {"total": keys, **{name: keys[flag] for name, flag in has.items()}}
    images = {name: naive.image(naive.Sketch(map(int, some))) for name, some in sketches.items()}
    got, tau = resolved(tt.SketchSet.from_sketches({"p": images}), {"f": [1, 0, 0], "g": [0, 1, 0]})
    assert tau == 1
    assert got == {*keys[has["f"] & ~has["g"]].tolist()}
