"""Commands that use a model: predict, evaluate; and what a model is judged on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import typer

from thetatree.cli.csv_files import DIALECTS, Types
from thetatree.cli.names import meant
from thetatree.cli.output import AsJson, note, say
from thetatree.cli.sketches import Format, is_sketch_file
from thetatree.cli.tables import STANDARD, batches, format_of, read_table, settled_types, writing

Model = Annotated[str, typer.Argument(help="A model file.")]


def predict(
    model: Model,
    data: Annotated[str, typer.Argument(help="The table; - is standard input.")] = STANDARD,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to; - is standard output.")] = STANDARD,
    probabilities: Annotated[bool, typer.Option("--proba", help="Add each class's probability.")] = False,
    leaf: Annotated[bool, typer.Option("--leaf", help="Add the number of the leaf.")] = False,
    rule: Annotated[bool, typer.Option("--rule", help="Add the leaf's rule as text.")] = False,
    keep: Annotated[
        str, typer.Option(help="Columns of the table to keep: all, none, or names with commas.")
    ] = "all",
    name: Annotated[str, typer.Option(help="What to call the prediction.")] = "prediction",
    file_format: Format = None,
    output_format: Annotated[
        str | None, typer.Option(help="The output's format, where its name does not tell.")
    ] = None,
) -> None:
    """Predict, row by row; the output file appears when it is whole."""
    from thetatree.export.model_file import load_model

    loaded = load_model(model)
    rules = _leaf_rules(loaded) if rule else None
    types = column_types(loaded)
    into = format_of(
        output, output_format or (file_format if output == STANDARD else None), "--output-format"
    )
    if into not in DIALECTS:
        types = settled_types(data, file_format, types)
    n = 0
    with writing(output, into) as writer:
        for batch in batches(data, "predicting", declared=file_format, types=types):
            table = pa.Table.from_batches([batch])
            made = _predicted(loaded, table, name, probabilities=probabilities, leaf=leaf, rules=rules)
            writer.write(_beside(_kept(table, keep), made))
            n += table.num_rows
    if output != STANDARD:
        note(f"{n:,} rows predicted, written to {output}")


def column_types(model: Any, target: str | None = None) -> Types:
    """Return what a CSV file's columns are to be read as, so that they mean what they meant in training."""
    types: dict[str, pa.DataType] = {}
    for feature in model.tree_.features:
        if feature.kind == "number":
            types[feature.name] = pa.float64()
        elif feature.kind == "flag" and not feature.labels:
            types[feature.name] = pa.bool_()
        else:
            types[feature.name] = pa.string()
    if target is not None:
        classes = getattr(model, "classes_", None)
        if classes is None or classes.dtype.kind == "f":
            types[target] = pa.float64()
        elif classes.dtype.kind in "iu":
            types[target] = pa.int64()
        elif classes.dtype.kind == "b":
            types[target] = pa.bool_()
    return types


def model_input(model: Any, table: pa.Table, besides: Sequence[str] = ()) -> Any:
    """Return the columns that a model asks for; without names, all but `besides`."""
    if hasattr(model, "columns_"):  # grown from sketches: it finds raw columns itself
        return table
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        table = table.drop_columns(list(besides))
        if table.num_columns != model.n_features_in_:
            raise ValueError(
                f"the model was fitted without column names on {model.n_features_in_} columns; "
                f"the table has {table.num_columns}"
            )
        return np.column_stack([column.to_numpy() for column in table.columns])
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        hint = meant(lacking[0], table.column_names)
        raise ValueError(f"the table lacks column {lacking[0]!r}, which the model was fitted on{hint}")
    return table.select(list(names))


def _predicted(
    model: Any, table: pa.Table, name: str, *, probabilities: bool, leaf: bool, rules: list[str] | None
) -> dict[str, pa.Array]:
    if probabilities and not hasattr(model, "predict_proba"):
        raise ValueError(f"a {type(model).__name__} predicts numbers: it has no probabilities")
    X = model_input(model, table)
    if not table.num_rows:
        return _nothing_predicted(model, name, probabilities=probabilities, leaf=leaf, rules=rules)
    out = {name: pa.array(model.predict(X))}
    if probabilities:
        shares = model.predict_proba(X)
        out |= {f"probability_{label}": pa.array(shares[:, k]) for k, label in enumerate(model.classes_)}
    if leaf or rules is not None:
        leaves = np.asarray(model.apply(X))
        out |= {"leaf": pa.array(leaves)} if leaf else {}
        out |= {} if rules is None else {"rule": pa.array([rules[node] for node in leaves.tolist()])}
    return out


def _nothing_predicted(
    model: Any, name: str, *, probabilities: bool, leaf: bool, rules: list[str] | None
) -> dict[str, pa.Array]:
    """Return the columns that a prediction would have."""
    classes = getattr(model, "classes_", None)
    none = pa.array([], pa.float64())
    out = {name: none if classes is None else pa.array(classes).slice(0, 0)}
    if probabilities and classes is not None:
        out |= {f"probability_{label}": none for label in classes}
    out |= {"leaf": pa.array([], pa.int64())} if leaf else {}
    return out | ({} if rules is None else {"rule": pa.array([], pa.string())})


def _leaf_rules(model: Any) -> list[str]:
    """Return the rule of each leaf, by node."""
    tree = model.tree_
    texts = [""] * tree.node_count
    for node, rule in zip(np.flatnonzero(tree.is_leaf).tolist(), tree.rules(), strict=True):
        texts[node] = str(rule)
    return texts


def _kept(table: pa.Table, keep: str) -> pa.Table:
    if keep == "all":
        return table
    if keep == "none":
        return table.select([])
    names = keep.split(",")
    for one in names:
        if one not in table.column_names:
            hint = meant(one, table.column_names)
            raise ValueError(
                f"--keep names {one!r}, which is not in the table{hint}: {', '.join(table.column_names)}"
            )
    return table.select(names)


def _beside(kept: pa.Table, made: dict[str, pa.Array]) -> pa.RecordBatch:
    names, arrays = list(kept.column_names), [column.combine_chunks() for column in kept.columns]
    for name, array in made.items():
        if name in names:
            raise ValueError(f"the table has a column {name!r} already: give --name, or --keep without it")
        names.append(name)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, names=names)


def held_out(model: Any, data: str, target: str | None, file_format: str | None = None) -> Any:
    """Read what a model is judged on: rows and their truth, or a sketch set, which knows its classes."""
    if file_format is None and is_sketch_file(data):
        from thetatree.sketch.sketch_set import SketchSet

        return SketchSet.read(data)
    X, truth, _ = _judged_rows(model, data, target, None, file_format)
    return X, truth


def _judged_rows(
    model: Any, data: str, target: str | None, weight: str | None, file_format: str | None
) -> tuple[Any, Any, Any]:
    """Return the rows that a model is judged on, their truth and their weights; without a truth none is."""
    if target is None:
        raise typer.BadParameter("rows need the column that holds the truth", param_hint="--target")
    table = read_table(data, declared=file_format, types=column_types(model, target))
    asked = [target, *([] if weight is None else [weight])]
    for column in asked:
        if column not in table.column_names:
            known = table.column_names
            raise ValueError(
                f"{data} has no column {column!r}{meant(column, known)}; it has {', '.join(known)}"
            )
    truth = table.column(target)
    known = truth.is_valid() if not pa.types.is_floating(truth.type) else pc.is_finite(truth)
    n = table.num_rows
    table = table.filter(known)
    if table.num_rows < n:
        note(f"{n - table.num_rows:,} rows have no {target!r} and are left out")
    if not table.num_rows:
        raise ValueError(f"{data}: no row has a {target!r} to judge by")
    weights = None if weight is None else table.column(weight).to_numpy()
    return model_input(model, table, asked), table.column(target).to_numpy(), weights


def evaluate(
    model: Model,
    data: Annotated[str, typer.Argument(help="A table with the target, or a sketch set.")],
    target: Annotated[str | None, typer.Option(help="The column of the rows that holds the truth.")] = None,
    weight: Annotated[str | None, typer.Option(help="The column of row weights.")] = None,
    level: Annotated[float, typer.Option(help="Of a sketch set: the level of the intervals.")] = 0.95,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Judge a model on rows, or on a sketch set, that it has not seen."""
    from thetatree.export.model_file import load_model

    loaded = load_model(model)
    if file_format is None and is_sketch_file(data):
        if target is not None or weight is not None:
            option = "--weight" if target is None else "--target"
            raise typer.BadParameter("does not go with sketches, which know it already", param_hint=option)
        _evaluate_on_sketches(loaded, data, level, as_json=as_json)
        return
    format_of(data, file_format)
    X, truth, weights = _judged_rows(loaded, data, target, weight, file_format)
    classify = hasattr(loaded, "classes_")
    figures = (_class_figures if classify else _number_figures)(loaded, X, truth, weights)
    lines = [
        f"{name:<20}{value:>12,.6g}" for name, value in figures.items() if isinstance(value, (int, float))
    ]
    if "confusion" in figures:
        lines += ["", f"rows {_ACROSS}", *_grid(loaded.classes_, figures["confusion"])]
    say("\n".join(lines), figures, as_json=as_json)


_ACROSS = "by truth (down) and prediction (across)"


def _evaluate_on_sketches(model: Any, file: str, level: float, *, as_json: bool) -> None:
    from thetatree.judge import evaluate as judged
    from thetatree.sketch.sketch_set import SketchSet

    found = judged(model, SketchSet.read(file), level=level)
    confusion = found.confusion.to_numpy()
    grid = _grid(list(found.confusion.index), np.round(confusion).tolist())
    value = {
        "level": level,
        "figures": found.frame,
        "confusion": confusion,
        "classes": list(found.confusion.index),
    }
    say("\n".join([str(found), "", f"keys {_ACROSS}", *grid]), value, as_json=as_json)


def _class_figures(model: Any, X: Any, truth: Any, weights: Any) -> dict[str, Any]:
    from sklearn import metrics

    strange = sorted({str(label) for label in truth.tolist() if label not in set(model.classes_.tolist())})
    if strange:
        known = ", ".join(map(str, model.classes_))
        raise ValueError(f"the target holds {strange[0]!r}, which is no class of the model: {known}")
    predicted, shares = model.predict(X), model.predict_proba(X)
    labels = model.classes_.tolist()
    figures: dict[str, Any] = {
        "rows": len(truth),
        "accuracy": metrics.accuracy_score(truth, predicted, sample_weight=weights),
        "balanced accuracy": metrics.balanced_accuracy_score(truth, predicted, sample_weight=weights),
        "log loss": metrics.log_loss(truth, shares, labels=labels, sample_weight=weights),
    }
    if len(labels) == 2 and len(set(truth.tolist())) == 2:
        figures["AUC"] = metrics.roc_auc_score(truth == labels[1], shares[:, 1], sample_weight=weights)
    figures["confusion"] = metrics.confusion_matrix(
        truth, predicted, labels=labels, sample_weight=weights
    ).tolist()
    figures["classes"] = labels
    return figures


def _number_figures(model: Any, X: Any, truth: Any, weights: Any) -> dict[str, Any]:
    from sklearn import metrics

    predicted = model.predict(X)
    return {
        "rows": len(truth),
        "R²": metrics.r2_score(truth, predicted, sample_weight=weights),
        "root mean square": float(
            np.sqrt(metrics.mean_squared_error(truth, predicted, sample_weight=weights))
        ),
        "mean absolute": metrics.mean_absolute_error(truth, predicted, sample_weight=weights),
    }


def _grid(labels: Sequence[Any], counts: list[list[float]]) -> list[str]:
    names = [str(label) for label in labels]
    first = max(len(name) for name in names) + 2
    width = max(10, *(len(name) + 2 for name in names))
    lines = [" " * first + "".join(f"{name:>{width}}" for name in names)]
    for name, row in zip(names, counts, strict=True):
        lines.append(f"{name:<{first}}" + "".join(f"{n:>{width},.6g}" for n in row))
    return lines
