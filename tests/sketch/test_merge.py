import itertools

import numpy as np
import pandas as pd
import pytest
from naive import sketch as naive

from thetatree.sketch import SketchSet, SketchSetError
from thetatree.sketch.build import sketch
from thetatree.sketch.column import SketchColumn


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": rng.permutation(n),
            "flag": rng.random(n) < 0.2,
            "age": rng.normal(40, 12, n).round(),
            "color": rng.choice(list("abcdefgh"), n, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.03, 0.01, 0.01]),
            "y": rng.choice(["no", "yes", "maybe"], n, p=[0.7, 0.25, 0.05]),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame


def image(made, tmp_path):
    made.write(tmp_path / "set.parquet")
    return (tmp_path / "set.parquet").read_bytes()


@pytest.mark.parametrize("form", ["per_class", "class_free"])
def test_any_split_of_the_rows_gives_the_bytes_of_one_pass(tmp_path, form):
    frame = rows()
    like = sketch(frame, "id", "y", lg_k=6, max_categories=4, bins=8, form=form)
    whole = sketch(frame, "id", "y", lg_k=6, like=like, form=form)
    assert whole == like
    expected = image(whole, tmp_path)
    rng = np.random.default_rng(1)
    for n_parts in (2, 3, 7):
        label = rng.integers(0, n_parts, len(frame))
        overlap = rng.random(len(frame)) < 0.2
        parts = [frame[(label == i) | (overlap & (label == i - 1))] for i in range(n_parts)]
        made = [sketch(part, "id", "y", lg_k=6, like=like, form=form) for part in parts]
        order = rng.permutation(n_parts)
        one_by_one = made[order[0]]
        for i in order[1:]:
            one_by_one = one_by_one.merge(made[i])
        assert image(one_by_one, tmp_path) == expected
        assert image(made[0].merge(*made[1:]), tmp_path) == expected
        assert image(one_by_one.merge(made[0]).merge(one_by_one), tmp_path) == expected


def test_an_empty_part_changes_nothing():
    frame = rows(500)
    whole = sketch(frame, "id", "y", lg_k=6)
    empty = sketch(frame[:0], "id", "y", lg_k=6, like=whole)
    assert whole.merge(empty) == whole
    assert empty.merge(whole) == whole


def owners():
    frame = rows()
    base = {"lg_k": 6, "bins": 4}
    profile = sketch(frame[["id", "age", "y"]], "id", "y", form="class_free", **base)
    visits = sketch(frame[["id", "flag"]][::2], "id", **base)
    orders = sketch(frame[["id", "color"]][::3], "id", **base)
    return frame, profile, visits, orders


def test_owners_keep_their_own_known_keys():
    frame, profile, visits, orders = owners()
    made = profile.merge(visits, orders)
    assert (made.form, made.features, made.classes) == (
        "class_free",
        ("age", "color", "flag"),
        ("maybe", "no", "yes"),
    )
    known = naive.Sketch.of([naive.hash_key(int(key)) for key in frame["id"][::2]], 64)
    assert set(map(int, made.sketch(feature="flag")[0])) == known.hashes
    assert set(map(int, made.sketch()[0])) == set(map(int, profile.sketch()[0]))
    everyone = set(map(int, profile.sketch(feature="age")[0]))
    assert set(map(int, made.sketch(feature="age")[0])) == everyone


def test_merging_is_associative_commutative_and_idempotent(tmp_path):
    _, *sets = owners()
    later = sketch(rows(800, 7)[["id", "flag"]], "id", lg_k=5)
    sets.append(later)
    expected = image(sets[0].merge(*sets[1:]), tmp_path)
    for a, b, c, d in itertools.permutations(sets):
        assert image(a.merge(b).merge(c.merge(d)), tmp_path) == expected
        assert image(a.merge(b.merge(c).merge(d)), tmp_path) == expected
    for one in sets:
        assert image(one.merge(one), tmp_path) == image(one, tmp_path)


def test_mixed_sizes_merge_to_the_least(tmp_path):
    keys = [range(40), range(20, 90), range(60, 300)]
    sets = [
        sketch(pd.DataFrame({"id": k, "f": True}), "id", lg_k=lg_k)
        for k, lg_k in zip(keys, (4, 6, 5), strict=True)
    ]
    expected = image(sets[0].merge(*sets[1:]), tmp_path)
    for a, b, c in itertools.permutations(sets):
        assert image(a.merge(b).merge(c), tmp_path) == expected
        assert image(a.merge(b.merge(c)), tmp_path) == expected
    least = naive.Sketch.of([naive.hash_key(key) for key in range(300)], 16)
    merged = SketchSet.read(tmp_path / "set.parquet")
    assert set(map(int, merged.sketch()[0])) == least.hashes
    assert set(map(int, merged.sketch(feature="f", value="1")[0])) == least.hashes


def test_unite_is_the_naive_union():
    rng = np.random.default_rng(3)
    for _ in range(200):
        k = int(rng.integers(1, 40))
        sketches = [
            naive.Sketch.of(
                map(int, rng.integers(1, 400, rng.integers(0, 120)) * 2**54), int(rng.integers(1, 60))
            )
            for _ in range(int(rng.integers(1, 6)))
        ]
        offsets = np.cumsum([0, *(len(s.hashes) for s in sketches)])
        column = SketchColumn(
            np.array([h for s in sketches for h in sorted(s.hashes)], np.uint64),
            offsets,
            np.array([s.theta for s in sketches], np.uint64),
        )
        everything = list(range(len(sketches)))
        union = column.unite([everything, []], [k, k])
        expected = naive.Sketch([])
        for one in sketches:
            expected = expected.union(one)
        expected = expected.union(expected, k)
        assert naive.Sketch(map(int, union[0]), int(union.thetas[0])) == expected
        assert len(union[1]) == 0
        a, b = sketches[0], sketches[-1]
        for result, wanted in (
            (column.intersect([0], [len(sketches) - 1]), a.intersection(b)),
            (column.subtract([0], [len(sketches) - 1]), a.difference(b)),
        ):
            assert naive.Sketch(map(int, result[0]), int(result.thetas[0])) == wanted
        theta = min(a.theta, b.theta)
        both, left, right = column.overlaps([0], [len(sketches) - 1])[0]
        assert (column.overlaps([0] * 5, [len(sketches) - 1] * 5) == [both, left, right]).all()
        assert both == len(a.intersection(b).hashes)
        assert left == sum(h < theta for h in a.hashes)
        assert right == sum(h < theta for h in b.hashes)


def test_overlaps_of_hashes_side_by_side():
    """What is looked up many times is put on shelves by leading bits, which such hashes crowd."""
    rng = np.random.default_rng(0)
    crowded = np.sort(np.append(rng.choice(5000, 900, replace=False) + 2**40, 2**62)).astype(np.uint64)
    some = [np.sort(rng.choice(crowded, int(n), replace=False)) for n in rng.integers(0, 900, 6)]
    others = [np.sort(rng.choice(6000, 50, replace=False) + 2**40).astype(np.uint64)] * 2
    sets = [crowded, np.empty(0, np.uint64), *some, *others]
    offsets = np.cumsum([0, *map(len, sets)])
    column = SketchColumn(np.concatenate(sets), offsets, np.full(len(sets), 2**63 - 1, np.uint64))
    for right in (0, 1):
        found = column.overlaps(range(len(sets)), [right] * len(sets))
        for one, counts in zip(sets, found.tolist(), strict=True):
            assert counts == [len(np.intersect1d(one, sets[right])), len(one), len(sets[right])]


def test_merged_days_may_overlap():
    def day(present, absent):
        keys = [*present, *absent]
        cells = [naive.image(naive.Sketch([naive.hash_key(k) for k in ks])) for ks in (keys, present, absent)]
        return SketchSet.from_sketches({"p": {"total": cells[0], "f": (cells[1], cells[2])}})

    made = day([1, 2], [3]).merge(day([3], [1, 4]))
    assert made.counts()["estimate"].tolist() == [4, 3, 3]


def test_keys_hashed_as_another_type_are_refused(tmp_path):
    """Nothing else would tell: no key of the one set is ever met in the other."""
    rows = pd.DataFrame({"id": range(50), "f": [True, False] * 25})
    as_text = sketch(rows.assign(id=rows.id.astype(str)), "id")
    as_text.write(tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="key_type is 'int' and 'text' cannot be merged"):
        sketch(rows, "id").merge(SketchSet.read(tmp_path / "text.parquet"))
    assert sketch(rows, "id").merge(sketch(rows, "id")).origin.key_type == "int"
    assert sketch(rows, "id", key_type="text").merge(as_text) == as_text


def test_sets_that_cannot_be_merged():
    frame = rows(300)
    made = sketch(frame, "id", "y")
    with pytest.raises(SketchSetError, match="'age' has other edges in another set"):
        made.merge(sketch(frame, "id", "y", edges={"age": [3, 4]}))
    with pytest.raises(SketchSetError, match="'age' is a threshold in one set and a flag in another"):
        made.merge(sketch(frame.assign(age=frame["age"] > 3), "id", "y"))
    with pytest.raises(SketchSetError, match="whose seed is 5 and 9001"):
        made.merge(sketch(frame, "id", "y", seed=5, like=made))
    with pytest.raises(SketchSetError, match="whose key is 'id' and 'key'"):
        made.merge(sketch(frame.rename(columns={"id": "key"}), "key", "y", like=made))
    with pytest.raises(SketchSetError, match="forms class_free and per_class"):
        made.merge(sketch(frame, "id", "y", like=made, form="class_free"))
    with pytest.raises(SketchSetError, match="the classes overlap: 300 of 600"):
        made.merge(sketch(frame.assign(y="never"), "id", "y", like=made))


def test_parts_in_files(tmp_path):
    frame = rows(600)
    whole = sketch(frame, "id", "y", lg_k=5)
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"{i}.parquet")
        sketch(frame[i::3], "id", "y", lg_k=5, like=whole).write(paths[-1])
    assert SketchSet.read(paths) == whole
