"""The command that grows a tree: fit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
import typer

from thetatree.cli.models import describe_model
from thetatree.cli.notes import refuse_dates, remarks
from thetatree.cli.output import AsJson, note, say
from thetatree.cli.sketches import Format, PerClass, Total, Verify, is_sketch_file, read_set
from thetatree.cli.tables import STANDARD, read_table, without
from thetatree.progress import progress

_ALGORITHMS = {
    ("cart", "classification"): "CARTClassifier",
    ("cart", "regression"): "CARTRegressor",
    ("c45", "classification"): "C45Classifier",
    ("thaid", "classification"): "THAIDClassifier",
    ("aid", "regression"): "AIDRegressor",
}
_FOR_SKETCHES = {"sketch": "ThetaSketchDecisionTreeClassifier", "cart": "CARTClassifier"} | {
    "c45": "C45Classifier",
    "thaid": "THAIDClassifier",
}


def fit(
    data: Annotated[
        list[str] | None, typer.Argument(help="A table, or sketch files (parts are merged).")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column to predict; of sketches, see --sketch-target.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The model file to write (JSON).")
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", "-a", help="cart, c45, thaid, aid; of sketches also sketch.")
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="classification or regression; needed where the target is whole numbers."),
    ] = None,
    criterion: Annotated[str | None, typer.Option(help="What splits are judged by, such as gini.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Depth of the deepest leaf.")] = None,
    max_leaf_nodes: Annotated[int | None, typer.Option(help="Grow best first to so many leaves.")] = None,
    min_samples_split: Annotated[
        float | None, typer.Option(help="Rows (or their share) to split a node.")
    ] = None,
    min_samples_leaf: Annotated[
        float | None, typer.Option(help="Rows (or their share) on each side.")
    ] = None,
    min_impurity_decrease: Annotated[float | None, typer.Option(help="What a split must gain.")] = None,
    ccp_alpha: Annotated[
        str | None, typer.Option(help="Cost-complexity pruning: a number, cv or cv-1se.")
    ] = None,
    class_weight: Annotated[str | None, typer.Option(help="balanced, or LABEL=WEIGHT,LABEL=WEIGHT.")] = None,
    missing: Annotated[str | None, typer.Option(help="learnt, majority, fractional or error.")] = None,
    significance: Annotated[
        float | None, typer.Option(help="The level at which a split must beat noise.")
    ] = None,
    random_state: Annotated[int | None, typer.Option(help="Seed of whatever is drawn at random.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: any other parameter of the estimator. Repeat."),
    ] = None,
    weight: Annotated[str | None, typer.Option(help="The column of row weights.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out. Repeat.")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="A column of categories, though it looks like numbers. Repeat.")
    ] = None,
    file_format: Format = None,
    per_class: PerClass = None,
    total: Total = None,
    sketch_target: Annotated[
        str | None, typer.Option(help="In one class-free CSV: its rows TARGET=label are the classes.")
    ] = None,
    verify: Verify = False,
    as_json: AsJson = False,
) -> None:
    """Grow a tree from a table or from sketches, show it, and save it."""
    parameters = {
        "criterion": criterion,
        "max_depth": max_depth,
        "max_leaf_nodes": max_leaf_nodes,
        "min_samples_split": _count(min_samples_split),
        "min_samples_leaf": _count(min_samples_leaf),
        "min_impurity_decrease": min_impurity_decrease,
        "ccp_alpha": None if ccp_alpha is None else _value(ccp_alpha),
        "class_weight": class_weight,
        "missing": missing,
        "significance": significance,
        "random_state": random_state,
        "n_jobs": jobs,
    }
    chosen = {name: value for name, value in parameters.items() if value is not None} | _settings(settings)
    files = data or []
    noted: list[str] = []
    if per_class or (file_format is None and _all_sketches(files)):
        _only_for_rows(
            {
                "--target": target,
                "--weight": weight,
                "--ignore": ignore,
                "--category": category,
                "--task": task,
            }
        )
        made = read_set(files, per_class or [], total, sketch_target, verify=verify)
        name = _FOR_SKETCHES.get(algorithm or "sketch")
        if name is None:
            raise typer.BadParameter(
                f"{algorithm!r} does not grow from sketches; use {', '.join(_FOR_SKETCHES)}",
                param_hint="--algorithm",
            )
        chosen = _weights(chosen, made.classes)
        model = _estimator(name, chosen)
        with progress("growing the tree"):
            model.fit(made)
    else:
        table = _Table(files, target, weight, ignore or [], category or [], file_format)
        model, noted = _fit_rows(table, algorithm, task, chosen)
    if output is not None:
        model.save(output)
    for remark in noted:
        note(f"thetatree: note: {remark}")
    text, value = describe_model(model)
    saved = f"\nsaved to {output}" if output else ""
    say(f"{text}{saved}", value | {"output": output}, as_json=as_json)
    if output is None and not as_json:
        note("not saved: give --output model.json to keep the model")


def _all_sketches(files: list[str]) -> bool:
    return bool(files) and STANDARD not in files and all(map(is_sketch_file, files))


def _only_for_rows(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value:
            raise typer.BadParameter("does not go with sketches, which know it already", param_hint=name)


class _Table(NamedTuple):
    """The rows to fit on, as the options say."""

    files: list[str]
    target: str | None
    weight: str | None
    ignore: list[str]
    category: list[str]
    declared: str | None

    def read(self) -> tuple[pa.Table, pa.ChunkedArray, Any]:
        """Return the features, the target and the weights."""
        if not self.files:
            raise typer.BadParameter("name a table, or sketch files")
        if self.target is None:
            raise typer.BadParameter("name the column to predict: --target COLUMN")
        types = {name: pa.string() for name in self.category}
        tables = [read_table(path, declared=self.declared, types=types) for path in self.files]
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
        if not table.num_rows:
            raise ValueError(f"{' '.join(self.files)}: there is a header but no row")
        without(table, self.category, "the category column")
        X = without(table, [self.target], "the target")
        X = without(X, [] if self.weight is None else [self.weight], "the weight column")
        X = without(X, self.ignore, "the column to ignore")
        refuse_dates(X.schema)
        y = table.column(self.target)
        if y.null_count:
            note(f"{y.null_count:,} rows have no {self.target!r} and are left out")
            table, X, y = table.filter(y.is_valid()), X.filter(y.is_valid()), y.drop_null()
        return X, y, None if self.weight is None else table.column(self.weight).to_numpy()


def _fit_rows(
    table: _Table, algorithm: str | None, task: str | None, chosen: dict[str, Any]
) -> tuple[Any, list[str]]:
    """Return the model, and what is worth saying of its columns."""
    X, y, weights = table.read()
    name = _ALGORITHMS[_checked_algorithm(algorithm, _task_of(y.type, table.target, algorithm, task))]
    labels = y.to_numpy()
    model = _estimator(name, _weights(chosen, dict.fromkeys(labels.tolist())))
    with progress(f"growing a tree from {len(y):,} rows"):
        model.fit(X, labels, sample_weight=weights)
    return model, list(remarks(X))


def _task_of(kind: pa.DataType, target: str | None, algorithm: str | None, task: str | None) -> str:
    """Return what is asked for; a column of whole numbers may be either and is never guessed."""
    if task is not None:
        if task not in ("classification", "regression"):
            raise typer.BadParameter(
                f"{task!r} is neither classification nor regression", param_hint="--task"
            )
        return task
    if algorithm in ("c45", "thaid"):
        return "classification"
    if algorithm == "aid":
        return "regression"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "regression"
    if pa.types.is_integer(kind):
        raise typer.BadParameter(
            f"the target {target!r} holds whole numbers: say classification or regression",
            param_hint="--task",
        )
    return "classification"


def _checked_algorithm(algorithm: str | None, task: str) -> tuple[str, str]:
    found = (algorithm or "cart", task)
    if found not in _ALGORITHMS:
        known = sorted({name for name, what in _ALGORITHMS if what == task})
        raise typer.BadParameter(
            f"{found[0]!r} is not for {task}; use {' or '.join(known)}", param_hint="--algorithm"
        )
    return found


def _estimator(name: str, chosen: dict[str, Any]) -> Any:
    import thetatree

    kind = getattr(thetatree, name)
    known = kind().get_params()
    for parameter in chosen:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; it has {', '.join(sorted(known))}")
    return kind(**chosen)


def _count(value: float | None) -> float | None:
    """A number of rows stays whole: 5 on the command line is 5 rows, 0.05 a share."""
    return int(value) if value is not None and value >= 1 and value == int(value) else value


def _settings(given: list[str] | None) -> dict[str, Any]:
    out = {}
    for item in given or []:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--set")
        out[name] = _value(value)
    return out


def _value(text: str) -> Any:
    """Read a value as JSON, or take it as text; None, True and False may be written as in Python."""
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _weights(chosen: dict[str, Any], labels: Iterable[Any]) -> dict[str, Any]:
    """Turn LABEL=WEIGHT,... into what estimators take, labels being told by how they are written."""
    given = chosen.get("class_weight")
    if not isinstance(given, str) or given == "balanced":
        return chosen
    by_text = {str(label): label for label in labels}
    weights = {}
    for item in given.split(","):
        label, _, number = item.rpartition("=")
        if label not in by_text:
            raise typer.BadParameter(
                f"{item!r} is not LABEL=WEIGHT; the labels are {', '.join(by_text)}",
                param_hint="--class-weight",
            )
        try:
            weights[by_text[label]] = float(number)
        except ValueError:
            raise typer.BadParameter(f"{number!r} is no number", param_hint="--class-weight") from None
    return chosen | {"class_weight": weights}
