"""The query for a key sample: the rows of the keys with the least hashes, by class or over all.

The hash is made by the engine's own sketch function: a sketch of one key is 16 bytes, of which the last eight
are its hash, least byte first. Most significant byte first, in hexadecimal, hashes sort as numbers do.
"""

from __future__ import annotations

from thetatree.engine.dialects import Dialect
from thetatree.engine.maker import HashMaker, Maker
from thetatree.engine.request import Asked, Request
from thetatree.sketch.errors import BuildError

# A single key's image as hexadecimal text; the hash begins at its 17th digit, in ClickHouse behind a length.
_IMAGES = {
    "spark": ("HEX({sketch})", "SUBSTRING", 17),
    "bigquery": ("TO_HEX({sketch})", "SUBSTR", 17),
    "duckdb": ("HEX(CAST({sketch} AS BLOB))", "SUBSTRING", 17),
    "postgres": ("ENCODE(CAST({sketch} AS BYTEA), 'hex')", "SUBSTR", 17),
    "clickhouse": ("hex({sketch})", "substring", 19),
}
_SMALL = 4  # lg_k of a sketch that holds one key


def keys_query(request: Request, maker: Maker, *, numeric: bool) -> str:
    """Write the query; `numeric`: over all keys, the target being a number."""
    if len(request.tables) > 1 or request.target is None:
        raise BuildError("a key sample is of one table that has the target too; join them into one first")
    d, (table,) = maker.dialect, request.tables
    several = [one.name for one in table.features if one.separator is not None]
    if several:
        raise BuildError(f"feature {several[0]!r}: a key sample is of rows with one value; leave lists= out")
    target = d.threshold(request.target) if numeric else d.category(request.target)
    columns = [f"{d.key(request.key, request.key_type)} AS k", f"{target} AS c"]
    columns += [f"{_column(d, one)} AS f{i}" for i, one in enumerate(table.features)]
    features = [f"f{i}" for i in range(len(table.features))]
    rows = "SELECT DISTINCT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL"
    steps = [("input", f"SELECT\n    {_listed(columns)}\n  FROM {table.source}"), ("kept", rows)]
    if isinstance(maker, HashMaker):
        steps.append(("hashed", maker.keyed("SELECT * FROM kept")))
    else:
        names = ", ".join(["k", "c", *features])
        made = d.aggregate(request.key_type, 12 if d.name == "clickhouse" else _SMALL)
        image, _, _ = _IMAGES[d.name]
        steps.append(("single", f"SELECT k, {image.format(sketch=made)} AS image\n  FROM kept\n  GROUP BY k"))
        joined = ", ".join(f"kept.{name} AS {name}" for name in names.split(", "))
        steps.append(
            ("hashed", f"SELECT {joined}, {_hash(d)} AS h\n  FROM kept JOIN single ON kept.k = single.k")
        )
    by = "" if numeric else "PARTITION BY c "
    # Rows of one key are one: ranks without gaps.
    steps.append(("ranked", f"SELECT *, DENSE_RANK() OVER ({by}ORDER BY h) AS place\n  FROM hashed"))
    answer = ["h AS hash", f"c AS {d.ident(request.target)}"]
    answer += [f"f{i} AS {d.ident(one.name)}" for i, one in enumerate(table.features)]
    text = ",\n".join(f"{name} AS (\n  {what}\n)" for name, what in steps)
    most = (1 << request.lg_k) + 1
    return f"{maker.preamble}WITH {text}\nSELECT {', '.join(answer)}\nFROM ranked\nWHERE place <= {most}"


def _column(d: Dialect, one: Asked) -> str:
    return {"flag": d.flag, "threshold": d.threshold}.get(one.kind, d.category)(one.name)


def _listed(columns: list[str]) -> str:
    return ",\n    ".join(columns)


def _hash(d: Dialect) -> str:
    _, cut, first = _IMAGES[d.name]
    digits = [f"{cut}(image, {first + 2 * byte}, 2)" for byte in reversed(range(8))]
    return f"LOWER(CONCAT({', '.join(digits)}))"
