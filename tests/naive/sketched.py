"""Random problems for the counting from sketches: rows of known truth, and a sketch set made of them.

way: how the set comes about. `direct` makes each sketch of the rows; `built` is thetatree's builder; `owners`
merges two sources with keys and features of their own; `days` merges two days on which flags differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import datasketches
import numpy as np
import pandas as pd

import thetatree as tt
from naive import sketch as naive
from naive.resolution import Rows

HASH = [naive.hash_key(key) for key in range(4000)]
KINDS = ("flag", "category", "multi", "threshold")
PRESENT = "1"


@dataclass
class Feature:
    name: str
    kind: str
    values: tuple[str, ...]
    facts: list  # by key
    gaps: bool  # whether some are missing

    def has(self, key, value):
        fact = self.facts[key]
        if fact is None:
            return False
        if self.kind == "flag":
            return bool(fact)
        if self.kind == "multi":
            return value in fact
        if self.kind == "threshold":
            return fact <= float(value.removeprefix("<="))
        return fact == value


@dataclass
class Settings:
    form: str
    way: str
    lg_k: int
    mixed: bool  # every sketch of its own size
    packaged: bool  # made by the datasketches package, untrimmed
    absent: bool
    rng: np.random.Generator


def make(rng, form, way, lg_k=None):
    """Give rows and their sketch set; lg_k makes all sketches of one size."""
    n = int(rng.integers(40, 1500))
    settings = Settings(
        form,
        way,
        int(rng.integers(5, 8)) if lg_k is None else lg_k,
        lg_k is None and way != "built" and bool(rng.random() < 0.7),
        bool(rng.random() < 0.2),
        bool(rng.random() < 0.6),
        rng,
    )
    n_classes = int(rng.integers(2, 4))
    labels = rng.choice(n_classes, n, p=[0.7, 0.3] if n_classes == 2 else [0.7, 0.25, 0.05])
    classes = ["pqr"[label] for label in labels]
    kinds = [str(rng.choice(KINDS)) for _ in range(int(rng.integers(2, 6)))]
    features = [_feature(rng, f"f{i}", kind, n, way) for i, kind in enumerate(kinds)]
    if way == "built":
        return _built(settings, classes, features)
    if way == "owners":
        return _owners(settings, classes, features)
    if way == "days":
        return _days(settings, classes, features)
    made = _direct(settings, range(n), classes, features)
    return _rows(range(n), classes, features, made.form), made


def _feature(rng, name, kind, n, way):
    if kind == "flag":
        values = (PRESENT,)
        facts = [bool(x) for x in rng.random(n) < 0.6 / rng.integers(1, 12)]
    elif kind == "category":
        values = tuple("abcde"[: rng.integers(2, 6)])
        share = 1 / np.arange(1, len(values) + 1)
        facts = [str(v) for v in rng.choice(values, n, p=share / share.sum())]
        none = 0 if way == "built" else rng.choice([0, 0, 0.003, 0.1])
        facts = ["" if rng.random() < none else fact for fact in facts]
    elif kind == "multi":
        values = tuple("uvw"[: rng.integers(2, 4)])
        facts = [{v for i, v in enumerate(values) if rng.random() < 0.5 / (i + 1)} for _ in range(n)]
        facts = [fact or {values[0]} for fact in facts] if way == "built" else facts
    else:
        edges = sorted({round(float(x), 2) for x in rng.normal(0, 1, int(rng.integers(1, 5)))})
        values = tuple(f"<={edge!r}" for edge in edges)
        facts = [float(x) for x in rng.normal(0, 1, n)]
    missing = rng.choice([0, 0, 0.01, 0.2])
    facts = [None if rng.random() < missing else fact for fact in facts]
    return Feature(name, kind, values, facts, any(fact is None for fact in facts))


def _rows(keys, classes, features, form, overlapping=()):
    keys = list(keys)
    return Rows(
        [HASH[key] for key in keys],
        [classes[key] for key in keys],
        {feature.name: [feature.facts[key] for key in keys] for feature in features},
        {*overlapping},
    )


def _sketch(settings, keys):
    lg_k = int(settings.rng.integers(4, 9)) if settings.mixed else settings.lg_k
    if settings.packaged:
        made = datasketches.update_theta_sketch(max(lg_k, 5))
        for key in keys:
            made.update(key)
        return made
    return naive.image(naive.Sketch.of([HASH[key] for key in keys], 1 << lg_k))


def _named(settings, keys, features):
    """The sketches of one universe."""
    named = {"total": _sketch(settings, keys)}
    for feature in features:
        known = [key for key in keys if feature.facts[key] is not None]
        if feature.gaps:
            named[feature.name, None] = _sketch(settings, known)
        for value in feature.values:
            present = [key for key in known if feature.has(key, value)]
            sketch = _sketch(settings, present)
            if settings.absent and feature.kind in ("flag", "multi"):
                sketch = (sketch, _sketch(settings, sorted({*known} - {*present})))
            named[feature.name, value] = sketch
    return named


def _direct(settings, keys, classes, features, *, classless=False):
    keys = list(keys)
    by_class = {label: [key for key in keys if classes[key] == label] for label in sorted({*classes})}
    if settings.form == "per_class":
        sketches = {label: _named(settings, mine, features) for label, mine in by_class.items()}
    elif settings.form == "one_vs_all":
        sketches = {None: _named(settings, keys, features), "p": _named(settings, by_class["p"], features)}
    else:
        sketches = {None: _named(settings, keys, features)}
        if not classless:
            sketches |= {label: {"total": _sketch(settings, mine)} for label, mine in by_class.items()}
    trimmed = settings.way != "direct" and settings.lg_k < 12 and settings.rng.random() < 0.5
    lg_k = int(settings.rng.integers(5, 8)) if trimmed else None
    kinds = {feature.name: feature.kind for feature in features}
    return tt.SketchSet.from_sketches(sketches, kinds=kinds, lg_k=lg_k)


def _built(settings, classes, features):
    n = len(classes)
    frame = pd.DataFrame({"id": range(n), "y": classes})
    for feature in features:
        facts = [sorted(fact) if isinstance(fact, set) else fact for fact in feature.facts]
        frame[feature.name] = pd.Series(facts, dtype=float if feature.kind == "threshold" else object)
    made = tt.sketch(
        frame,
        "id",
        "y",
        {feature.name: feature.kind for feature in features},
        lg_k=settings.lg_k,
        form=settings.form,
        edges={
            feature.name: [float(value.removeprefix("<=")) for value in feature.values]
            for feature in features
            if feature.kind == "threshold"
        },
    )
    return _rows(range(n), classes, features, made.form), made


def _owners(settings, classes, features):
    """Each owner has some of the keys and of the features; perhaps one feature is with both."""
    n, rng = len(classes), settings.rng
    keys = [[key for key in range(n) if rng.random() < share] for share in rng.choice([0.3, 0.7, 0.9, 1], 2)]
    cut = int(rng.integers(1, len(features)))
    shared = int(rng.random() < 0.3)
    owned = [features[:cut], features[cut - shared :]]
    classless = settings.form == "class_free"
    parts = [_direct(settings, keys[0], classes, owned[0])]
    parts.append(_direct(settings, keys[1], classes, owned[1], classless=classless))
    merged = []
    for feature in features:
        having = {key for mine, of in zip(keys, owned, strict=True) if feature in of for key in mine}
        facts = [fact if key in having else None for key, fact in enumerate(feature.facts)]
        merged.append(replace(feature, facts=facts))
    known = {*keys[0]} if classless else {*keys[0], *keys[1]}
    labels = [label if key in known else None for key, label in enumerate(classes)]
    made = parts[0].merge(parts[1])
    return _rows(sorted({*keys[0], *keys[1]}), labels, merged, made.form), made


def _days(settings, classes, features):
    """Flags and tags may change overnight: what is present on any day is present."""
    n, rng = len(classes), settings.rng
    changed = rng.choice([0.002, 0.3])
    tomorrow = []
    for feature in features:
        facts = list(feature.facts)
        if feature.kind in ("flag", "multi"):
            for key in range(n):
                if rng.random() < changed:
                    facts[key] = rng.random() < 0.3 if feature.kind == "flag" else {feature.values[0]}
        tomorrow.append(replace(feature, facts=facts))
    days = [features, tomorrow]
    keys = [[key for key in range(n) if rng.random() < share] for share in rng.choice([0.5, 0.8, 1], 2)]
    parts = [_direct(settings, mine, classes, day) for mine, day in zip(keys, days, strict=True)]
    merged, overlapping = [], set()
    for today, later in zip(*days, strict=True):
        seen = [
            [feature.facts[key] if key in mine else None for key in range(n)]
            for feature, mine in zip((today, later), map(set, keys), strict=True)
        ]
        facts = [_either(a, b) for a, b in zip(*seen, strict=True)]
        merged.append(replace(today, facts=facts))
        for value in today.values:
            pairs = [
                [None if fact is None else replace(today, facts=[fact]).has(0, value) for fact in pair]
                for pair in zip(*seen, strict=True)
            ]
            if any({*pair} == {True, False} for pair in pairs):
                overlapping.add((today.name, value))
    made = parts[0].merge(parts[1])
    return _rows(sorted({*keys[0], *keys[1]}), classes, merged, made.form, overlapping), made


def _either(a, b):
    if a is None or b is None:
        return b if a is None else a
    return a | b if isinstance(a, (bool, set)) else a
