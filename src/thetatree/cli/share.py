"""Commands that hand a model on, or set it beside another: report, export, compare, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from thetatree.cli.names import meant
from thetatree.cli.output import AsJson, say
from thetatree.cli.sketches import Format
from thetatree.cli.tables import is_model_file
from thetatree.cli.use import Model, held_out

_COLUMNS = ("prediction", "probability", "leaf")
_TARGETS = ("text", "rules", "json", "dot", "sql", "python", "c", "java", "onnx")


def report(
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write.")],
    data: Annotated[
        str | None, typer.Option(help="Rows with the target, or a sketch set, to judge the tree on.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column of the rows that holds the truth.")] = None,
    title: Annotated[str | None, typer.Option(help="The heading.")] = None,
    note: Annotated[str | None, typer.Option(help="A line below the heading.")] = None,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Write a report: one HTML file with the tree to walk through, its segments and figures."""
    from thetatree.export.model_file import load_model

    loaded = load_model(model)
    known = None if data is None else held_out(loaded, data, target, file_format)
    path = loaded.report(output, known, title=title, note=note)
    size = path.stat().st_size
    say(f"{path} ({size / 1e3:,.0f} kB)", {"output": str(path), "bytes": size}, as_json=as_json)


def export(
    model: Model,
    to: Annotated[str, typer.Option("--to", help=f"{', '.join(_TARGETS)}.")],
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
    dialect: Annotated[
        str, typer.Option(help="Of SQL: duckdb, postgres, sqlite, spark, bigquery, …")
    ] = "duckdb",
    table: Annotated[
        str | None,
        typer.Option(help="Of SQL: the table to score, as name or schema.name; else one expression."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help=f"Of SQL: {', '.join(_COLUMNS)}. Repeat for a query."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of C and Java: the function or the class.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Of text and DOT: show no node below.")] = None,
) -> None:
    """Turn a model into something that runs or reads elsewhere."""
    from thetatree.export.model_file import load_model
    from thetatree.files import write_whole

    if to == "sklearn":
        what = "a tree of scikit-learn's is no file: in Python, thetatree.export.to_sklearn makes one"
        raise typer.BadParameter(what, param_hint="--to")
    if to not in _TARGETS:
        raise typer.BadParameter(f"{to!r} is none of {', '.join(_TARGETS)}", param_hint="--to")
    strange = [one for one in column or [] if one not in _COLUMNS]
    if strange:
        raise typer.BadParameter(
            f"{strange[0]!r} is none of {', '.join(_COLUMNS)}{meant(strange[0], _COLUMNS)}",
            param_hint="--column",
        )
    loaded = load_model(model)
    if to == "onnx":
        if output is None:
            raise typer.BadParameter("an ONNX model is no text: name a file", param_hint="--output")
        from thetatree.export import to_onnx

        write_whole(Path(output), to_onnx(loaded).SerializeToString())
        typer.echo(f"written to {output}")
        return
    text = _as_text(loaded, to, dialect, table, column, name, max_depth)
    if output is None:
        typer.echo(text)
        return
    write_whole(Path(output), f"{text}\n".encode())
    typer.echo(f"written to {output}")


def _as_text(
    model: Any,
    to: str,
    dialect: str,
    table: str | None,
    column: list[str] | None,
    name: str | None,
    max_depth: int | None,
) -> str:
    from thetatree import export as exports

    named = {} if name is None else {"name": name}
    if to == "sql":
        outputs: Any = column or "prediction"
        parts = None if table is None else table.split(".")
        outputs = outputs[0] if table is None and len(outputs) == 1 else outputs
        return str(exports.to_sql(model, dialect=dialect, output=outputs, table=parts))
    if to == "rules":
        return "\n".join(str(rule) for rule in model.tree_.rules())
    if to in ("text", "dot"):
        write = exports.to_text if to == "text" else exports.to_dot
        return str(write(model, max_depth=max_depth))
    return {
        "json": lambda: exports.to_json(model),
        "python": lambda: exports.to_python(model),
        "c": lambda: exports.to_c(model, **named),
        "java": lambda: exports.to_java(model, **named),
    }[to]()


def compare(
    before: Annotated[str, typer.Argument(help="A sketch set or a model.")],
    after: Annotated[str, typer.Argument(help="Another of the same kind.")],
    level: Annotated[
        float, typer.Option(help="The level at which a change counts, for all together.")
    ] = 0.05,
    most: Annotated[int, typer.Option(help="Print so many lines, the surest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Say what changed between two sketch sets, or between two trees, beyond noise."""
    from thetatree.judge import compare as changes

    first, second = _one(before), _one(after)
    frame = changes(first, second, level)
    shown = frame.head(most)
    if "path" in shown:  # the longest, so the last; told from above to below, each line in its own place
        shown = shown[[name for name in shown if name != "path"] + ["path"]]
    text = shown.to_string(index=False, float_format="{:.3g}".format, na_rep="–")
    say(text, {"changes": frame}, as_json=as_json)


def _one(file: str) -> Any:
    from thetatree.export.model_file import load_model
    from thetatree.sketch.sketch_set import SketchSet

    return load_model(file) if is_model_file(file) else SketchSet.read(file)


def demo(
    customers: Annotated[int, typer.Option(min=100, help="How many customers to make.")] = 1_000_000,
) -> None:
    """Make customers in three tables, sketch each alone, grow a tree, and judge it beside the exact one."""
    from thetatree.demo import main

    main(customers)
