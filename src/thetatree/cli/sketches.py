"""Commands for sketch sets: sketch, merge, inspect, sql."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thetatree.cli.csv_files import DIALECTS
from thetatree.cli.output import AsJson, note, say
from thetatree.cli.tables import format_of, header, is_model_file, read_table

if TYPE_CHECKING:
    from thetatree.sketch.sketch_set import SketchSet

_FORMS = ({"feature", "sketch"}, {"feature", "sketch_data"}, {"sketch_feature_present"})

Files = Annotated[list[str] | None, typer.Argument(help="Sketch files; several are parts, and are merged.")]
PerClass = Annotated[
    list[str] | None, typer.Option("--class", help="LABEL=FILE: the sketches of one class. Repeat for each.")
]
Total = Annotated[str | None, typer.Option(help="The sketches of all keys, beside --class of some classes.")]
Target = Annotated[
    str | None, typer.Option(help="In one class-free CSV: its rows TARGET=label are the classes.")
]
Verify = Annotated[
    bool, typer.Option("--verify-kinds", help="Tell from the hashes which names are values of one feature.")
]


Format = Annotated[
    str | None, typer.Option("--format", help="The table's format, where its name does not tell.")
]


def is_sketch_file(path: str) -> bool:
    """Whether a file, or a folder that a cluster wrote, holds sketches rather than rows."""
    if Path(path).is_dir():
        return _is_sketch_folder(path)
    kind = format_of(path)
    if kind not in (*DIALECTS, "parquet"):
        return False
    names = set(header(path))
    return any(form <= names for form in _FORMS)


def _is_sketch_folder(path: str) -> bool:
    parts = sorted(Path(path).rglob("*.parquet"))
    if not parts or not any(form <= set(header(str(parts[0]))) for form in _FORMS):
        raise IsADirectoryError(f"{path} is a folder, and of no sketches: name its files")
    return True


def read_set(
    files: list[str], per_class: list[str], total: str | None, target: str | None, *, verify: bool
) -> SketchSet:
    """Read a set as its options say."""
    from thetatree.sketch.sketch_set import SketchSet

    kinds: Any = "verify" if verify else None
    if not per_class:
        if total is not None:
            raise typer.BadParameter("goes with --class LABEL=FILE", param_hint="--total")
        if not files:
            raise typer.BadParameter("name at least one sketch file, or give --class LABEL=FILE")
        return SketchSet.read(files[0] if len(files) == 1 else files, target=target, kinds=kinds)
    if files:
        raise typer.BadParameter("name files either plainly or by --class and --total, not both")
    parts: dict[Any, Any] = {} if total is None else {None: total}
    for item in per_class:
        label, equals, path = item.partition("=")
        if not equals or not label or not path:
            raise typer.BadParameter(f"{item!r} is not LABEL=FILE", param_hint="--class")
        parts.setdefault(label, []).append(path)
    return SketchSet.read(parts, target=target, kinds=kinds)


def sketch(
    data: Annotated[list[str], typer.Argument(help="CSV or Parquet files, all of one table.")],
    key: Annotated[str, typer.Option(help="The column that says whose row it is.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The sketch set to write (Parquet).")],
    target: Annotated[
        str | None, typer.Option(help="The class column. None makes class-free sketches of the features.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", "-f", help="NAME or NAME:KIND (flag, category, multi, threshold). Repeat."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out. Repeat.")] = None,
    edges: Annotated[
        list[str] | None, typer.Option(help="NAME=1,2,5: cut a number there instead of at its quantiles.")
    ] = None,
    lg_k: Annotated[int, typer.Option(help="Each sketch holds at most 2^lg_k hashes.")] = 12,
    bins: Annotated[int, typer.Option(help="Numbers are cut at their quantiles into at most so many.")] = 32,
    like: Annotated[
        str | None, typer.Option(help="Take kinds and edges of this set, so that the two merge.")
    ] = None,
    form: Annotated[str | None, typer.Option(help="per_class or class_free.")] = None,
    max_categories: Annotated[int, typer.Option(help="Rarer categories become 'other'.")] = 100,
    conflicts: Annotated[
        str, typer.Option(help="A key with several values of a feature: error or any. It has one class.")
    ] = "error",
    key_type: Annotated[str | None, typer.Option(help="Convert keys first: int, float or text.")] = None,
    seed: Annotated[int, typer.Option(help="The hash seed.")] = 9001,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    query: Annotated[
        str | None,
        typer.Option("--sql", help="Let DuckDB read the file (`data`), filter and derive columns."),
    ] = None,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Make theta sketches of a table: one set per class, feature and value."""
    from thetatree.cli.feed import batch_source
    from thetatree.sketch.build import sketch as build
    from thetatree.sketch.sketch_set import SketchSet

    chosen = _features(feature)
    cuts = _edges(edges)
    needed = None if chosen is None else [key, *([target] if target else []), *chosen]
    if query is not None and len(data) > 1:
        raise typer.BadParameter("reads one file, or a pattern such as 'part-*.csv'", param_hint="--sql")
    for option, given in (("--ignore", ignore), ("--format", file_format)):
        if query is not None and given:
            raise typer.BadParameter("goes without --sql, which says it itself", param_hint=option)
    if ignore and feature:
        raise typer.BadParameter(
            "goes without --feature, which names all that is used", param_hint="--ignore"
        )
    made = build(
        data[0]
        if query is not None
        else batch_source(data, needed, without=ignore or (), declared=file_format),
        key,
        target,
        chosen,
        lg_k=lg_k,
        bins=bins,
        edges=cuts,
        like=None if like is None else SketchSet.read(like),
        seed=seed,
        form=form,  # type: ignore[arg-type]
        max_categories=max_categories,
        conflicts=conflicts,  # type: ignore[arg-type]
        key_type=key_type,  # type: ignore[arg-type]
        n_jobs=jobs,
        sql=query,
    )
    made.write(output)
    say(f"{made.describe()}\nwritten to {output}", described(made) | {"output": output}, as_json=as_json)


def _features(given: list[str] | None) -> dict[str, Any] | None:
    if not given:
        return None
    out: dict[str, Any] = {}
    for item in given:
        name, colon, kind = item.rpartition(":")
        out[name if colon and kind in ("flag", "category", "multi", "threshold") else item] = (
            kind if colon and kind in ("flag", "category", "multi", "threshold") else None
        )
    return out


def _edges(given: list[str] | None) -> dict[str, list[float]] | None:
    if not given:
        return None
    out = {}
    for item in given:
        name, equals, cuts = item.rpartition("=")
        try:
            out[name] = [float(cut) for cut in cuts.split(",")]
        except ValueError:
            equals = ""
        if not equals:
            raise typer.BadParameter(f"{item!r} is not NAME=1,2,5", param_hint="--edges")
    return out


def merge(
    output: Annotated[str, typer.Option("--output", "-o", help="The sketch set to write (Parquet).")],
    files: Files = None,
    per_class: PerClass = None,
    total: Total = None,
    target: Target = None,
    verify: Verify = False,
    as_json: AsJson = False,
) -> None:
    """Unite sketch sets: parts of one table, days, or owners with features of their own."""
    made = read_set(files or [], per_class or [], total, target, verify=verify)
    made.write(output)
    say(f"{made.describe()}\nwritten to {output}", described(made) | {"output": output}, as_json=as_json)


def inspect(
    file: Annotated[str, typer.Argument(help="A sketch set, a model, or a table.")],
    target: Target = None,
    verify: Verify = False,
    counts: Annotated[bool, typer.Option("--counts", help="List every sketch with its count.")] = False,
    level: Annotated[float, typer.Option(help="Confidence of the counts' bounds.")] = 0.95,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Say what a file holds, and what a sketch set can not resolve."""
    if is_model_file(file):
        from thetatree.cli.models import describe_model
        from thetatree.export.model_file import load_model

        text, value = describe_model(load_model(file))
    elif file_format is None and is_sketch_file(file):
        made = read_set([file], [], None, target, verify=verify)
        if counts:
            frame = made.counts(level)
            text, value = frame.to_string(index=False), {"counts": frame}
        else:
            text, value = made.describe(), described(made)
    else:
        text, value = _describe_table(file, file_format)
    say(text, value, as_json=as_json)


def described(made: SketchSet) -> dict[str, Any]:
    """Return what a set is, as values."""
    return {
        "form": made.form,
        "classes": list(made.classes),
        "features": made.kinds,
        "sketches": len(made),
        "held": len(made.data.column.hashes),
        "lg_k": made.origin.lg_k,
        "key": made.origin.key,
        "target": made.origin.target,
        "seed": made.origin.seed,
    }


def _describe_table(file: str, declared: str | None) -> tuple[str, dict[str, Any]]:
    import pandas as pd

    table = read_table(file, declared=declared)
    frame = pd.DataFrame(
        {
            "column": table.column_names,
            "type": [str(kind) for kind in table.schema.types],
            "missing": [column.null_count for column in table.columns],
            "distinct": [len(column.unique().drop_null()) for column in table.columns],
        }
    )
    title = f"a table of {table.num_rows:,} rows and {table.num_columns} columns"
    return f"{title}\n{frame.to_string(index=False)}", {"rows": table.num_rows, "columns": frame}


def sql(
    dialect: Annotated[
        str, typer.Argument(help="spark, databricks, bigquery, duckdb, postgres or clickhouse.")
    ],
    table: Annotated[str, typer.Argument(help="The table, as the warehouse names it.")],
    key: Annotated[str, typer.Option(help="The column that says whose row it is.")],
    feature: Annotated[
        list[str],
        typer.Option("--feature", "-f", help="NAME or NAME:KIND (flag, category, multi, threshold). Repeat."),
    ],
    target: Annotated[str | None, typer.Option(help="The class column. None: class-free sketches.")] = None,
    edges: Annotated[list[str] | None, typer.Option(help="NAME=1,2,5: where a number is cut.")] = None,
    lg_k: Annotated[int, typer.Option(help="Each sketch holds at most 2^lg_k hashes.")] = 12,
    lists: Annotated[
        list[str] | None,
        typer.Option("--list", help="NAME of an array, or NAME=SEPARATOR of text: several values. Repeat."),
    ] = None,
    key_type: Annotated[str, typer.Option(help="What keys are cast to: int, text or float.")] = "int",
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Use no sketch function (DuckDB, ClickHouse): give least hashes.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the query to this file.")
    ] = None,
) -> None:
    """Print the query with which a warehouse makes the sketches."""
    from thetatree.engine import sql as query_of

    asked, cuts = _features(feature) or {}, _edges(edges)
    several = {name: mark or None for name, _, mark in (item.partition("=") for item in lists or [])}
    flags = [name for name, kind in asked.items() if kind is None and name not in {**(cuts or {}), **several}]
    if flags:
        names = ", ".join(map(repr, flags))
        note(f"taken as flags, 1 or true for those who have it: {names} (else: NAME:KIND, or --edges)")
    text = query_of(
        dialect,
        table,
        key,
        target,
        asked,
        lg_k,
        edges=cuts,
        lists=several,
        key_type=key_type,  # type: ignore[arg-type]
        hashes=hashes,
    )
    if output is None:
        typer.echo(text)
    else:
        Path(output).write_text(f"{text}\n", encoding="utf-8")
        typer.echo(f"written to {output}")
