"""Commands that show a model and make it smaller: show, prune."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from thetatree.cli.output import AsJson, plain, say
from thetatree.cli.sketches import Format
from thetatree.cli.use import held_out

_SHOWN_DEPTH = 4


def show(
    model: Annotated[str, typer.Argument(help="A model file.")],
    style: Annotated[str, typer.Option("--as", help="tree, rules, nodes, importance or summary.")] = "tree",
    max_depth: Annotated[int | None, typer.Option(help="Show no node below this depth.")] = None,
    decimals: Annotated[int | None, typer.Option(help="Decimals of thresholds and means.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a model: the tree, its rules, its nodes as a table, or what its features matter."""
    from thetatree.export.model_file import load_model
    from thetatree.export.text import to_text

    loaded = load_model(model)
    tree = loaded.tree_
    if style == "tree":
        text: str = to_text(loaded, max_depth=max_depth, decimals=decimals)
        value: Any = {"nodes": tree.to_frame()}
    elif style == "rules":
        rules = [str(rule) for rule in tree.rules()]
        text, value = "\n".join(rules), {"rules": rules}
    elif style == "nodes":
        frame = tree.to_frame()
        text, value = frame.to_string(index=False), {"nodes": frame}
    elif style == "importance":
        pairs = sorted(_importance(loaded), key=lambda pair: -pair[1])
        text = "\n".join(f"{share:8.4f}  {name}" for name, share in pairs)
        value = {"importance": dict(pairs)}
    elif style == "summary":
        if not hasattr(loaded, "summary"):
            raise ValueError(f"a {type(loaded).__name__} has no summary; show it as tree, rules or nodes")
        text = str(loaded.summary())
        value = {"summary": text}
    else:
        raise typer.BadParameter(
            f"{style!r} is not tree, rules, nodes, importance or summary", param_hint="--as"
        )
    say(text, value, as_json=as_json)


def _importance(model: Any) -> list[tuple[str, float]]:
    tree = model.tree_
    shares = tree.compute_feature_importances().tolist()
    return list(zip([feature.name for feature in tree.features], shares, strict=True))


def describe_model(model: Any) -> tuple[str, dict[str, Any]]:
    """Return what a model is, as text and as values."""
    from thetatree.export.text import to_text

    tree = model.tree_
    value = {
        "estimator": type(model).__name__,
        "parameters": model.get_params(),
        "criterion": tree.criterion,
        "classes": None if tree.classes is None else list(tree.classes),
        "features": [feature.name for feature in tree.features],
        "leaves": tree.n_leaves,
        "depth": tree.max_depth,
        "nodes": tree.node_count,
        "n": int(tree.n_node_samples[0]),
        "importance": dict(_importance(model)),
    }
    return f"{type(model).__name__}, {to_text(model, max_depth=_SHOWN_DEPTH)}", plain(value)


def prune(
    model: Annotated[str, typer.Argument(help="A model file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model file to write (JSON).")],
    by: Annotated[
        str, typer.Option("--by", help="cost-complexity, validation, pessimistic or min-impurity.")
    ],
    alpha: Annotated[
        float | None, typer.Option(help="Cost-complexity: cut links of at most this alpha.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="Validation: held-out rows, or a sketch set.")] = None,
    target: Annotated[str | None, typer.Option(help="Validation: the rows' column with the truth.")] = None,
    confidence: Annotated[float, typer.Option(help="Pessimistic: a lower one prunes more.")] = 0.25,
    decrease: Annotated[float | None, typer.Option(help="Min-impurity: what a split must gain.")] = None,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Make a model smaller: by cost and complexity, held-out keys, error limits, or what splits gain."""
    from copy import copy

    from thetatree.export.model_file import load_model

    loaded = load_model(model)
    tree = loaded.tree_
    if by == "cost-complexity":
        pruned = tree.prune(ccp_alpha=_needed("--alpha", alpha))
    elif by == "validation":
        known = held_out(loaded, _needed("--data", data), target, file_format)
        pruned = tree.prune_validation(*(known if isinstance(known, tuple) else (known,)))
    elif by == "pessimistic":
        pruned = tree.prune_pessimistic(confidence)
    elif by == "min-impurity":
        pruned = tree.prune_min_impurity(_needed("--decrease", decrease))
    else:
        ways = "cost-complexity, validation, pessimistic or min-impurity"
        hint = " (by cross-validation a tree is pruned as it grows: fit --ccp-alpha cv)" if "cv" in by else ""
        raise typer.BadParameter(f"{by!r} is not {ways}{hint}", param_hint="--by")
    smaller = copy(loaded)
    smaller.tree_ = pruned
    smaller.save(output)
    text = (
        f"{tree.n_leaves} leaves became {pruned.n_leaves}, depth {tree.max_depth} became {pruned.max_depth}"
    )
    value = {
        "leaves before": tree.n_leaves,
        "leaves": pruned.n_leaves,
        "depth": pruned.max_depth,
        "output": output,
    }
    say(f"{text}\nsaved to {output}", value, as_json=as_json)


def _needed(option: str, value: Any) -> Any:
    if value is None:
        raise typer.BadParameter("is needed for this way to prune", param_hint=option)
    return value
