"""The DataSketches hash in plain SQL, for DuckDB and ClickHouse without any extension.

hash: MurmurHash3 x64 128 of the key's bytes with seed 9001, its first half shifted right by one. A key's
bytes are those of a 64-bit integer or double, least first, or its UTF-8. Words of 64 bits wrap around: in
ClickHouse UInt64 does so by itself, in DuckDB products and sums are made in 128 bits and cut down.
"""

from __future__ import annotations

from thetatree.sketch.keys import KeyType

_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_F1, _F2 = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
_A1, _A2 = 0x52DCE729, 0x38495AB5
_SEED = 9001
_ONES = "18446744073709551615::UHUGEINT"

DUCKDB_MACROS = f"""\
CREATE OR REPLACE TEMP MACRO tt_mul(a, b) AS CAST((CAST(a AS UHUGEINT) * b) & {_ONES} AS UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_add(a, b) AS CAST((CAST(a AS UHUGEINT) + b) & {_ONES} AS UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_rotl(a, r) AS
  CAST((CAST(a AS UHUGEINT) << r) & {_ONES} AS UBIGINT) | (a >> (64 - r));
CREATE OR REPLACE TEMP MACRO tt_fold(a) AS xor(a, a >> 33);
CREATE OR REPLACE TEMP MACRO tt_mix(a) AS
  tt_fold(tt_mul(tt_fold(tt_mul(tt_fold(a), {_F1}::UBIGINT)), {_F2}::UBIGINT));
CREATE OR REPLACE TEMP MACRO tt_one(a) AS tt_mul(tt_rotl(tt_mul(a, {_C1}::UBIGINT), 31), {_C2}::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_two(a) AS tt_mul(tt_rotl(tt_mul(a, {_C2}::UBIGINT), 33), {_C1}::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_first(a, b, k) AS
  tt_add(tt_mul(tt_add(tt_rotl(xor(a, tt_one(k)), 27), b), 5::UBIGINT), {_A1}::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_second(a, b, k) AS
  tt_add(tt_mul(tt_add(tt_rotl(xor(b, tt_two(k)), 31), a), 5::UBIGINT), {_A2}::UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_both(a, b) AS
  tt_add(tt_mix(tt_add(a, b)), tt_mix(tt_add(b, tt_add(a, b)))) >> 1;
CREATE OR REPLACE TEMP MACRO tt_end(a, b, n) AS tt_both(xor(a, n), xor(b, n));
CREATE OR REPLACE TEMP MACRO tt_word(x) AS
  tt_end(xor({_SEED}::UBIGINT, tt_one(x)), {_SEED}::UBIGINT, 8::UBIGINT);
"""

_DUCKDB_TEXT = f"""\
CREATE OR REPLACE TEMP MACRO tt_read(x, i) AS
  CAST('0x' || x[i + 14 : i + 15] || x[i + 12 : i + 13] || x[i + 10 : i + 11] || x[i + 8 : i + 9]
  || x[i + 6 : i + 7] || x[i + 4 : i + 5] || x[i + 2 : i + 3] || x[i : i + 1] AS UBIGINT);
CREATE OR REPLACE TEMP MACRO tt_words(x) AS
  list_transform(range(len(x) // 16),
  lambda i: {{'a': tt_read(x, 16 * i + 1), 'b': CAST(i % 2 AS UBIGINT)}});
CREATE OR REPLACE TEMP MACRO tt_step(s, w) AS
  CASE WHEN w.b = 0 THEN {{'a': tt_first(s.a, s.b, w.a), 'b': s.b}}
  ELSE {{'a': s.a, 'b': tt_second(s.a, s.b, w.a)}} END;
CREATE OR REPLACE TEMP MACRO tt_body(words) AS
  list_reduce(words[: -3],
  lambda s, w: tt_step(s, w), {{'a': {_SEED}::UBIGINT, 'b': {_SEED}::UBIGINT}});
CREATE OR REPLACE TEMP MACRO tt_tail(s, words, n) AS
  tt_end(xor(s.a, tt_one(words[-2].a)), xor(s.b, tt_two(words[-1].a)), CAST(n AS UBIGINT));
"""


def duckdb_macros(key_type: KeyType) -> str:
    """Give what to create first."""
    return DUCKDB_MACROS + (_DUCKDB_TEXT if key_type == "text" else "")


def duckdb_hashed(select: str, key_type: KeyType) -> str:
    """Add the hash ``h`` of the key ``k`` to the rows of a query.

    Text goes by steps, each a column: an argument of a macro is written out wherever it is used, and DuckDB
    finds equal parts of an expression again, but not in a lambda (6,000 keys took 43 s that way).
    """
    if key_type == "float":
        return f"SELECT *, tt_word(CAST(CAST(k + 0.0 AS BIT) AS UBIGINT)) AS h FROM ({select}) AS taken"
    if key_type == "int":
        ones = "18446744073709551615::HUGEINT"
        return (
            f"SELECT *, tt_word(CAST(CAST(k AS HUGEINT) & {ones} AS UBIGINT)) AS h FROM ({select}) AS taken"
        )
    padded = "rpad(hex(encode(k)), CAST(32 * (octet_length(encode(k)) // 16 + 1) AS INTEGER), '0')"
    return (
        "SELECT * EXCLUDE (bytes, words, body), tt_tail(body, words, octet_length(encode(k))) AS h FROM (\n"
        "    SELECT *, tt_body(words) AS body FROM (\n"
        "    SELECT *, tt_words(bytes) AS words FROM (\n"
        f"    SELECT *, {padded} AS bytes FROM ({select}) AS taken) AS a) AS b) AS c"
    )


def _one(word: str) -> str:
    return f"bitRotateLeft({word} * {_C1}, 31) * {_C2}"


def _two(word: str) -> str:
    return f"bitRotateLeft({word} * {_C2}, 33) * {_C1}"


def clickhouse_hash(key: str, key_type: KeyType) -> list[tuple[str, str]]:
    """Give the steps, each a name and what it stands for; the last is the hash."""
    seed = f"toUInt64({_SEED})"
    if key_type == "text":
        steps = _clickhouse_bytes(key, seed)
    else:
        word = f"reinterpretAsUInt64({key})"
        steps = [
            ("t1", f"bitXor(bitXor({seed}, {_one(word)}), toUInt64(8))"),
            ("t2", f"bitXor({seed}, toUInt64(8))"),
        ]
    steps += [("u1", "t1 + t2"), ("u2", "t2 + u1")]
    for name in ("u1", "u2"):
        last = name
        for i, factor in enumerate((_F1, _F2, None)):
            folded = f"bitXor({last}, bitShiftRight({last}, 33))"
            last = f"{name}{'abc'[i]}"
            steps.append((last, folded if factor is None else f"{folded} * {factor}"))
    return [*steps, ("h", "bitShiftRight(u1c + u2c, 1)")]


def _clickhouse_bytes(key: str, seed: str) -> list[tuple[str, str]]:
    def read(at: str) -> str:
        return f"reinterpretAsUInt64(substring({key}, {at}, 8))"

    first = f"(bitRotateLeft(bitXor(s.1, {_one('b.1')}), 27) + s.2) * 5 + {_A1}"
    second = f"(bitRotateLeft(bitXor(s.2, {_two('b.2')}), 31) + {first}) * 5 + {_A2}"
    return [
        ("n", f"length({key})"),
        ("blocks", f"arrayMap(i -> ({read('16 * i + 1')}, {read('16 * i + 9')}), range(intDiv(n, 16)))"),
        ("body", f"arrayFold((s, b) -> ({first}, {second}), blocks, ({seed}, {seed}))"),
        ("rest", "16 * intDiv(n, 16)"),
        ("t1", f"bitXor(bitXor(body.1, {_one(read('rest + 1'))}), n)"),
        ("t2", f"bitXor(bitXor(body.2, {_two(read('rest + 9'))}), n)"),
    ]
