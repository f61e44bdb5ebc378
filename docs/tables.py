"""Markdown tables, and the fields of a struct."""

from collections.abc import Iterable
from typing import cast

from msgspec import inspect


def make_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def fields_of(cls: type) -> tuple[inspect.Field, ...]:
    return cast("inspect.StructType", inspect.type_info(cls)).fields
