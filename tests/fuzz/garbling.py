"""Makes wrong documents out of right ones: other types, missing and extra keys, deep and huge values."""

import random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**53, 10**30, "", " ", "x", "\x00", "\u202e", "\ud800", "é" * 50, "x" * 5_000),
    *([], [[]], {}, {"": {}}, [None], {"x": [1, {"y": 2}]}),
)


def garble(value: Any, chance: random.Random, depth: int = 0) -> Any:
    """Change a document in one or more places."""
    if depth > 6 or chance.random() < 0.15:
        return pick(chance)
    if isinstance(value, dict):
        return _garble_mapping(value, chance, depth)
    if isinstance(value, list | tuple):
        items = [garble(item, chance, depth + 1) if chance.random() < 0.5 else item for item in value]
        if items and chance.random() < 0.3:
            items.append(chance.choice(items))
        if items and chance.random() < 0.3:
            items.pop(chance.randrange(len(items)))
        return items
    return pick(chance) if chance.random() < 0.5 else value


def _garble_mapping(value: dict[Any, Any], chance: random.Random, depth: int) -> dict[Any, Any]:
    changed = {key: garble(item, chance, depth + 1) if chance.random() < 0.4 else item for key, item in value.items()}
    if changed and chance.random() < 0.3:
        del changed[chance.choice(list(changed))]
    if chance.random() < 0.3:
        changed[chance.choice(["x", "", "event", "metadata", "tasks", "members", "seq"])] = pick(chance)
    return changed


def pick(chance: random.Random) -> Any:
    value = chance.choice(ODD)
    for _ in range(chance.choice([0, 0, 0, 1, 40])):
        value = [value]
    return value


def flip(data: bytes, chance: random.Random) -> bytes:
    """Change, cut or repeat bytes."""
    at = chance.randrange(len(data))
    match chance.choice(["flip", "cut", "repeat", "insert"]):
        case "flip":
            return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        case "cut":
            return data[:at]
        case "repeat":
            return data[:at] + data[max(0, at - 40) :]
        case _:
            return data[:at] + chance.randbytes(chance.choice([1, 8])) + data[at:]
