"""The same bytes whatever must not matter; `make prove-identical` adds Pythons and instruction sets."""

from fingerprints import sketches_and_their_trees, trees_from_rows


def test_trees_from_rows():
    cases = trees_from_rows(600)
    assert len(cases) == 54
    assert all(len(case.sums) == 1 and len(case.ways) >= 3 for case in cases)


def test_sketches_and_their_trees():
    cases = sketches_and_their_trees(800)
    assert len(cases) == 4
    assert all(len(case.sums) == 1 and len(case.ways) >= 4 for case in cases)
