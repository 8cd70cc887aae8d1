"""Model files changed at random: their bytes, or their JSON with the checksum made right again."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any

ODD: list[Any] = [
    None, True, -1, 0, 1, 2, 3.7, -0.5, 1e308, 2**31, 2**63, -(2**63), 10**30, "", "nan", "inf", "text", [],
    [0], [[0]], {}, {"list": 3}, {"float": "zero"}, {"items": [[{"list": []}, 1]]}, {"list": []},
    {"dtype": "<U3", "labels": []}, {"float": "nan"}, {"dtype": "<U1", "labels": ["a", "b"]},
    "number", "flag", "category", "CARTRegressor",
]  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value: the way there."""
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


def mutate(document: dict[str, Any], chance: random.Random) -> tuple[Any, ...]:
    """Make one change somewhere in the model, arrays' elements no likelier than the rest; return where."""
    ways = [way for way in places(document["model"]) if way]
    short = [way for way in ways if len(way) < 3]
    way = chance.choice(short if chance.random() < 0.4 else ways)
    holder = document["model"]
    for key in way[:-1]:
        holder = holder[key]
    act = chance.randrange(5)
    if act == 0:
        del holder[way[-1]]
    elif act == 1 and isinstance(holder, list):
        holder.insert(way[-1], copy.deepcopy(chance.choice(ODD)))
    elif act == 2 and isinstance(holder[way[-1]], (int, float)):
        holder[way[-1]] += chance.choice([1, -1, 2, -3, 0.5])
    elif act == 3 and isinstance(holder, list):
        other = chance.randrange(len(holder))
        holder[way[-1]], holder[other] = holder[other], holder[way[-1]]
    else:
        holder[way[-1]] = copy.deepcopy(chance.choice(ODD))
    return way


def seal(document: Any) -> None:
    """Make the checksum that of the model as it is now."""
    if isinstance(document, dict) and isinstance(document.get("model"), dict):
        text = json.dumps(document["model"], ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        document["checksum"] = hashlib.sha256(text.encode()).hexdigest()


def mutated_bytes(whole: bytes, chance: random.Random) -> bytes:
    """Change, drop, double or swap bytes somewhere, or break off."""
    data = bytearray(whole)
    at = chance.randrange(len(data))
    act = chance.randrange(7)
    if act == 0:
        data[at] = chance.randrange(256)
    elif act == 1:
        data[at] ^= 1 << chance.randrange(8)
    elif act == 2:
        data[at] = ord(chance.choice('0123456789-+.eE"[]{},:ntf \\'))
    elif act == 3:
        del data[at : at + chance.choice([1, 1, 5, 100])]
    elif act == 4:
        data[at:at] = data[at : at + chance.choice([1, 7, 40])]
    elif act == 5:
        other = chance.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    else:
        del data[at:]
    return bytes(data)


def resealed(data: bytes) -> bytes:
    """The same with a right checksum, where it is JSON still."""
    try:
        document = json.loads(data)
        seal(document)
        return json.dumps(document).encode()
    except (ValueError, RecursionError):
        return data
