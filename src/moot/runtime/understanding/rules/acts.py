"""What a clause does (acknowledge, ask, order, stop the run), and the data that finds it in one language."""

import re
from collections.abc import Mapping
from enum import StrEnum
from re import Pattern

from msgspec import Struct


class Act(StrEnum):
    KEEP_RUNNING = "keep_running"  # "don't stop": a control that is refused
    STATUS = "status"
    CANCEL = "cancel"
    PAUSE = "pause"
    AWAY = "away"  # the person is busy for a while: "I need to check something"
    RESUME = "resume"
    GO_ON = "go_on"
    DROP = "drop"  # "forget that": ends the work, unless an order follows
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
    """Return the words of a block as a set."""
    return frozenset(block.split())


def join(block: str) -> str:
    """Join the lines of a pattern, without their indentation."""
    return "".join(line.strip() for line in block.splitlines())


def phrases(block: str, **slots: str) -> Pattern[str]:
    """Compile a pattern of several lines; `{name}` in it stands for the pattern `slots[name]`."""
    joined = join(block)
    for name, pattern in slots.items():
        joined = joined.replace(f"{{{name}}}", f"(?:{pattern})")
    return re.compile(joined)


class Lexicon(Struct, frozen=True, gc=False):
    """The patterns of one language. `acts` are tried in order and match the start of a clause (all of it with `$`)."""

    acts: Mapping[Act, Pattern[str]]
    lead: Pattern[str]  # words in front that do not matter: "ok so now please"
    additive: Pattern[str]  # adds to the work: "also", "as well"
    pointing: Pattern[str]  # refers to the work: "it", "this", "the second one"
    new_thing: Pattern[str]  # an order for something new: "write a …"
    replaced: tuple[Pattern[str], ...]  # with the groups "old", "new", or both: "new instead of old"
    widened: Pattern[str]  # the scope grows beyond the goal
    vague: Pattern[str]  # asks for a change without naming one: "change it"
    trivia: Pattern[str]  # a question of general knowledge
