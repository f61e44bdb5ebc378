"""How much of what was said is already part of the work: the goal, the tasks, the last messages."""

from msgspec import Struct

from moot.core.intent import SemanticInput
from moot.runtime.understanding.rules.words import first_pieces, is_chinese, pieces

MESSAGES, MESSAGE_CHARS = 6, 1_000  # of the history, newest first; how much of each
TASKS = 100
CORE_PIECES = 12  # pairs of characters are smaller than words: twice as many


class Context(Struct, frozen=True, gc=False):
    text: str  # the goal as it was said
    goal: frozenset[str]
    core: frozenset[str]  # what the goal is about, as far as its first words tell
    work: frozenset[str]  # goal, task titles and recent messages together
    asked: str  # what the agent asked last, if the last word was a question


class Nearness(Struct, frozen=True, gc=False):
    """Shares of what was said that the goal, and the whole context, know. 0 also when nothing was said."""

    goal: float
    work: float
    said: frozenset[str]


def read_context(given: SemanticInput) -> Context:
    task = given.system_state.current_task
    text = task.goal[:MESSAGE_CHARS] if task else ""
    goal = pieces(text)
    work = set(goal)
    for each in given.tasks[:TASKS]:
        work |= pieces(each.title[:200])
    for message in given.recent_history[-MESSAGES:]:
        work |= pieces(message.content[:MESSAGE_CHARS])
    return Context(
        text,
        goal,
        first_pieces(text, CORE_PIECES * 2 if is_chinese(text) else CORE_PIECES),
        frozenset(work),
        _last_question(given),
    )


def compare(text: str, context: Context) -> Nearness:
    said = pieces(text)
    if not said:
        return Nearness(0.0, 0.0, said)
    return Nearness(len(said & context.goal) / len(said), len(said & context.work) / len(said), said)


def _last_question(given: SemanticInput) -> str:
    """People answer what was asked last; a question further back was answered or forgotten."""
    last = given.recent_history[-1] if given.recent_history else None
    if last is None or last.role != "agent":
        return ""
    end = last.content.strip()[-400:]
    return end if end.rstrip("*_ )\"'”").endswith(("?", "？", "吗", "呢")) or "?" in end or "？" in end else ""
