"""What a clause does: acknowledge, ask, order, stop the run. The kinds, and the shape of a language's table."""

import re
from collections.abc import Mapping
from enum import StrEnum
from re import Pattern

from msgspec import Struct


class Act(StrEnum):
    KEEP_RUNNING = "keep_running"  # "don't stop": names a control only to refuse it
    STATUS = "status"
    CANCEL = "cancel"
    PAUSE = "pause"
    AWAY = "away"  # why the person is gone for a while: "I need to check something"
    RESUME = "resume"
    GO_ON = "go_on"
    DROP = "drop"  # "forget that": alone it ends the work, before an order it makes room
    SWITCH = "switch"  # "something else:"
    RESTART = "restart"
    RETRY = "retry"
    ACK = "ack"
    EXPLAIN = "explain"  # a question in the form of an order: "tell me why"
    SUGGEST = "suggest"  # an order in the form of a question: "can you also"
    QUERY = "query"
    WISH = "wish"  # "it should", "you forgot", "too long"
    ORDER = "order"
    FACT = "fact"


def split(block: str) -> frozenset[str]:
    return frozenset(block.split())


def join(block: str) -> str:
    """A pattern may be written over several lines; the indentation is no part of it."""
    return "".join(line.strip() for line in block.splitlines())


def phrases(block: str, **slots: str) -> Pattern[str]:
    """`{run}` stands for the pattern of that slot."""
    joined = join(block)
    for name, pattern in slots.items():
        joined = joined.replace(f"{{{name}}}", f"(?:{pattern})")
    return re.compile(joined)


class Language(Struct, frozen=True, gc=False):
    """A language as data. `acts` are tried in order; a pattern that must fill the whole clause says so with `$`."""

    acts: Mapping[Act, Pattern[str]]
    lead: Pattern[str]  # what may stand before what is meant: "ok so now please"
    additive: Pattern[str]  # "also", "as well": adds to what is there
    pointing: Pattern[str]  # "it", "this", "the second one": leans on what is there
    new_thing: Pattern[str]  # an order that makes a thing of its own: "write a …"
    replaced: tuple[Pattern[str], ...]  # group "old", group "new", or both: "new instead of old"
    widened: Pattern[str]  # a scope that grows beyond the goal
    vague: Pattern[str]  # wants a change, names nothing: "change it"
    trivia: Pattern[str]  # a question that needs no work to be answered
