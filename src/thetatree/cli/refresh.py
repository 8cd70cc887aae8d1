"""The command that brings a sketch set and its model up to date: refresh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thetatree.cli.output import AsJson, say
from thetatree.cli.sketches import described, is_sketch_file
from thetatree.progress import progress

if TYPE_CHECKING:
    from thetatree.engine.refresh import Refreshed
    from thetatree.sketch.sketch_set import SketchSet


def refresh(
    sketches: Annotated[
        str, typer.Argument(help="The sketch set to bring up to date, in its place unless --output is given.")
    ],
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="What came: sketch sets, or rows, which are sketched like the set."),
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="Unite the set anew from the dated parts in this folder.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option(help="Of a window: the latest so many days that have a part.")
    ] = None,
    days: Annotated[
        int | None, typer.Option(help="Of a window: so many days of the calendar, up to the latest part's.")
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Delete the parts that are older than the window.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="A model to grow again, with its own parameters; written in its place.")
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the set here instead.")] = None,
    model_output: Annotated[str | None, typer.Option(help="Write the model here instead.")] = None,
    level: Annotated[
        float, typer.Option(help="The level at which a change counts, for all together.")
    ] = 0.05,
    most: Annotated[int, typer.Option(help="Print so many lines of each comparison.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Unite a sketch set with what came, or a window of days, grow its model again, and say what changed."""
    from thetatree.engine.refresh import refresh as bring_up_to_date
    from thetatree.export.model_file import load_model
    from thetatree.sketch.sketch_set import SketchSet

    _check(parts, window, {"--keep": keep, "--days": days, "--forget": forget})
    if model is None and model_output is not None:
        raise typer.BadParameter("goes with --model", param_hint="--model-output")
    old = None if model is None else load_model(model)
    before = SketchSet.read(sketches) if window is None or Path(sketches).exists() else None
    older: list[Path] = []
    if window is None:
        came: Sequence[str | Path] = parts or []
        after = _united(before, came, like=before)
    else:
        from thetatree.engine.window import window as window_of

        found = window_of(window, keep=keep, days=days)
        came, older = found.parts, found.older
        after = _united(None, came)
    with progress("growing the tree"):
        made = bring_up_to_date(after, old, before, level=level)
    to, model_to = output or sketches, model_output or model
    # The set goes first: should the model not follow, the next run unites the same parts again.
    after.write(to)
    if model_to is not None:
        made.model.save(model_to)
    for path in older if forget else ():
        path.unlink()
    value = {
        "output": to,
        "model_output": model_to,
        "parts": [str(path) for path in came],
        "older": [str(path) for path in older],
        "deleted": forget,
        "sketches": described(after),
        "features": made.features,
        "keys": made.keys,
        "drift": made.drift,
        "splits": made.splits,
    }
    lines = [_in_words("part", len(came)), *_told(made, most)]
    if older:
        lines.append(f"{_in_words('older part', len(older))} {'deleted' if forget else 'left out'}")
    lines.append(f"written to {to}" + ("" if model_to is None else f" and {model_to}"))
    say("\n".join(lines), value, as_json=as_json)


def _check(parts: list[str] | None, window: str | None, of_windows: dict[str, Any]) -> None:
    if (window is None) == (not parts):
        raise typer.BadParameter("name what came (files), or give --window FOLDER; one of the two")
    for name, value in of_windows.items():
        if window is None and value:
            raise typer.BadParameter("goes with --window FOLDER", param_hint=name)


def _united(first: SketchSet | None, parts: Sequence[str | Path], like: SketchSet | None = None) -> SketchSet:
    """Unite part by part, so that no more than one is in memory beside what was united."""
    from thetatree.sketch.sketch_set import SketchSet

    united = first
    with progress("uniting", len(parts), "parts") as advance:
        for path in parts:
            if like is None or is_sketch_file(str(path)):
                part = SketchSet.read(path)
            else:
                part = _sketched(str(path), like)
            united = part if united is None else united.merge(part)
            advance(1)
    assert united is not None, "there is at least one part"
    return united


def _sketched(path: str, like: SketchSet) -> SketchSet:
    """Sketch rows as the set was sketched."""
    from thetatree.cli.feed import batch_source
    from thetatree.sketch.build import sketch as build

    origin = like.origin
    if origin.key is None:
        raise ValueError(
            f"{path} holds rows, and the set does not say which column the key is: make the part with "
            "'thetatree sketch --key COLUMN --like SET'"
        )
    needed = [origin.key, *([] if origin.target is None else [origin.target]), *like.features]
    made: SketchSet = build(
        batch_source([path], needed),
        origin.key,
        origin.target,
        lg_k=12 if origin.lg_k is None else origin.lg_k,
        like=like,
        seed=origin.seed,
        form=like.form if like.form != "one_vs_all" else None,
        key_type=origin.key_type,  # type: ignore[arg-type]
    )
    return made


def _told(made: Refreshed, most: int) -> list[str]:
    """Say what changed."""
    lines = []
    if made.keys is not None:
        lines.append(made.keys.to_string(index=False))
    for what in ("gained", "lost"):
        if made.features[what]:
            lines.append(f"features {what}: {', '.join(made.features[what])}")
    if made.drift is not None:
        drift = made.drift
        changed = drift[drift["changed"]]
        lines.append(f"{len(changed)} of {_in_words('share', len(drift))} changed beyond noise")
        if len(changed):
            shown = ["class", "feature", "value", "before", "after", "z", "p"]
            lines.append(changed[shown].head(most).to_string(index=False))
    if made.splits is not None:
        splits = made.splits
        counts = splits["status"].value_counts().to_dict()
        told = [f"{counts[status]} {status}" for status in _STATUSES if status in counts] or ["none"]
        lines.append(f"splits: {', '.join(told)}; {int(splits['sure'].sum())} of the changes beyond noise")
        changed = splits[splits["status"] != "kept"]
        if len(changed):
            lines.append(changed.head(most).to_string(index=False))
    return lines


_STATUSES = ("kept", "moved", "changed", "gained", "lost")


def _in_words(what: str, n: int) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
