from typing import Any

import numpy as np
from numpy.typing import NDArray

class Columns:
    def __init__(self, n_rows: int, n_threads: int, most_bins: int = 0) -> None: ...
    def add_numbers(self, arrays: list[NDArray[Any]]) -> None: ...
    def add_flags(self, arrays: list[NDArray[Any]]) -> None: ...
    def add_category(self, codes: NDArray[np.int32], levels: int) -> None: ...
    def add_sparse(
        self, n_columns: int, start: NDArray[np.int64], column: NDArray[np.int32], values: NDArray[Any]
    ) -> None: ...
    def any_missing(self) -> bool: ...
    def has_missing(self, feature: int) -> bool: ...
    def first_infinite(self) -> int: ...

class Router:
    def __init__(
        self,
        kind: NDArray[np.uint8],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float64],
        child_start: NDArray[np.int64],
        child: NDArray[np.int32],
        category_start: NDArray[np.int64],
        category: NDArray[np.int32],
        category_branch: NDArray[np.int32],
        missing_branch: NDArray[np.int32],
        coded: NDArray[np.uint8],
    ) -> None: ...
    def rows(
        self, n_rows: int, arrays: list[NDArray[Any]], n_threads: int
    ) -> tuple[NDArray[np.int64], bool]: ...
    def sparse(
        self, start: NDArray[np.int64], column: NDArray[np.int32], values: NDArray[Any], n_threads: int
    ) -> NDArray[np.int64]: ...
    def spread_rows(
        self,
        weight: NDArray[np.float64],
        n_rows: int,
        arrays: list[NDArray[Any]],
        all_nodes: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    def spread_sparse(
        self,
        weight: NDArray[np.float64],
        start: NDArray[np.int64],
        column: NDArray[np.int32],
        values: NDArray[Any],
        all_nodes: bool,
        n_threads: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...

def grow_c45(
    columns: Columns, y: NDArray[np.int32], weight: NDArray[np.float64] | None, rules: dict[str, Any]
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]: ...
def candidates_c45(
    columns: Columns, y: NDArray[np.int32], weight: NDArray[np.float64] | None, rules: dict[str, Any]
) -> list[dict[str, Any]]: ...
def error_limit(rule: int, confidence: float, e: float, n: float) -> float: ...
def grow(
    columns: Columns, y: NDArray[Any], weight: NDArray[np.float64] | None, rules: dict[str, Any]
) -> dict[str, NDArray[Any]]: ...
def candidates(
    columns: Columns, y: NDArray[Any], weight: NDArray[np.float64] | None, rules: dict[str, Any]
) -> list[dict[str, Any]]: ...
def codes_present(codes: NDArray[Any], n_labels: int) -> NDArray[np.uint8]: ...
def translate_codes(codes: NDArray[Any], to: NDArray[np.int32]) -> NDArray[np.int32]: ...
def partition_masks(n: int) -> NDArray[np.uint64]: ...
def any_infinite(array: NDArray[Any], n_threads: int) -> bool: ...
def weakest_links(
    child_start: NDArray[np.int64], child: NDArray[np.int32], risk: NDArray[np.float64], most: float
) -> tuple[float, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...
def log_two_sided(k: float, n: float, p: float) -> float: ...
def log_binomial_at_least(k: float, n: float, p: float) -> float: ...
def log_binomial_at_most(k: float, n: float, p: float) -> float: ...

# Sketches.

_U8 = NDArray[np.uint8]
_U32 = NDArray[np.uint32]
_U64 = NDArray[np.uint64]
_I32 = NDArray[np.int32]
_I64 = NDArray[np.int64]
_F64 = NDArray[np.float64]
_Column = tuple[_U64, _I64, _U64]

def seed_hash(seed: int, /) -> int: ...
def hash_int64(keys: _I64, seed: int, present: _U8 | None, /) -> _U64: ...
def hash_float64(keys: _F64, seed: int, present: _U8 | None, /) -> _U64: ...
def hash_text(raw: _U8, offsets: _I64, seed: int, present: _U8 | None, /) -> _U64: ...
def read_sketches(raw: _U8, offsets: _I64, seed_hash: int, n_threads: int, /) -> Any: ...
def write_sketches(
    hashes: _U64, offsets: _I64, thetas: _U64, seed_hash: int, version: int, /
) -> tuple[_U8, _I64]: ...
def decode_text(text: _U8, offsets: _I64, /) -> Any: ...
def unite_sketches(
    hashes: _U64, offsets: _I64, thetas: _U64, groups: _I64, members: _I64, k: _I64, /
) -> _Column: ...
def combine_sketches(
    hashes: _U64, offsets: _I64, thetas: _U64, left: _I64, right: _I64, subtract: bool, /
) -> _Column: ...
def levels_of(hashes: _U64, /) -> _U8: ...
def take_sketches(hashes: _U64, offsets: _I64, thetas: _U64, members: _I64, /) -> _Column: ...
def sketch_overlaps(
    hashes: _U64, offsets: _I64, thetas: _U64, left: _I64, right: _I64, n_threads: int, /
) -> _I64: ...
def take_fold(
    hashes: _U64, offsets: _I64, thetas: _U64, n_folds: int, fold: int, keep: bool, salt: int, /
) -> _Column: ...
def take_share(
    hashes: _U64, offsets: _I64, thetas: _U64, share: float, keep: bool, salt: int, /
) -> _Column: ...

class Samplers:
    def __init__(self, n: int, k: int, /) -> None: ...
    def __len__(self) -> int: ...
    def grow(self, n: int, /) -> None: ...
    def add_codes(self, hashes: _U64, classes: _I32, codes: _I32, ids: _I64, n_codes: int, /) -> None: ...
    def add_flags(
        self, hashes: _U64, levels: _U8, classes: _I32, flags: _U8, ids: _I64, low: int, high: int, /
    ) -> None: ...
    def add_bits(
        self, hashes: _U64, levels: _U8, classes: _I32, bits: _U8, offset: int, ids: _I64, /
    ) -> None: ...
    def least_level(self, ids: _I64, /) -> int: ...
    def finish(self) -> _Column: ...

# Growing from sketches

def grow_from_sketches(
    hashes: NDArray[np.uint64],
    start: NDArray[np.int64],
    theta: NDArray[np.uint64],
    classes: list[dict[str, Any]],
    exact_n: list[float],
    features: list[tuple[int, int, bool]],
    rules: dict[str, Any],
) -> dict[str, NDArray[Any]]: ...
def count_tree(
    hashes: NDArray[np.uint64],
    start: NDArray[np.int64],
    theta: NDArray[np.uint64],
    classes: list[dict[str, Any]],
    exact_n: list[float],
    features: list[tuple[int, int, bool]],
    feature: NDArray[np.int32],
    child_start: NDArray[np.int64],
    child: NDArray[np.int32],
    branch_start: NDArray[np.int64],
    branch: NDArray[np.int32],
    weight: NDArray[np.float64],
    n_threads: int,
) -> dict[str, NDArray[np.float64]]: ...

class Sums:
    def __init__(
        self,
        hashes: NDArray[np.uint64],
        start: NDArray[np.int64],
        theta: NDArray[np.uint64],
        source: dict[str, Any],
        features: list[tuple[int, int, bool]],
        keys: NDArray[np.uint64],
        y: NDArray[np.float64],
    ) -> None: ...
    def among(
        self, node: list[tuple[int, list[int]]], tests: list[tuple[int, list[int]]], n_threads: int
    ) -> NDArray[np.float64]: ...

def resolve_each(
    hashes: NDArray[np.uint64],
    start: NDArray[np.int64],
    theta: NDArray[np.uint64],
    source: dict[str, Any],
    features: list[tuple[int, int, bool]],
    nodes: list[list[tuple[int, list[int]]]],
) -> list[tuple[NDArray[np.uint64], int]]: ...
