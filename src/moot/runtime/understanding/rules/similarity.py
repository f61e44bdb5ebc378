"""How many words of a message are already part of the work: its goal, its tasks, the last messages."""

from msgspec import Struct

from moot.core.intake.intent import SemanticInput
from moot.runtime.understanding.rules.tokens import first_tokens, is_chinese, tokens_of

MESSAGES, MESSAGE_CHARS = 6, 1_000  # of the history: the newest messages, and the start of each
TASKS, TITLE_CHARS = 100, 200
CORE_TOKENS = 12  # doubled for Chinese: a pair of characters is less than a word


class Context(Struct, frozen=True, gc=False):
    """What is known about the work; sets hold tokens (see `tokens.tokens_of`)."""

    goal_text: str
    goal: frozenset[str]
    core: frozenset[str]  # the first tokens of the goal, which say what it is about
    work: frozenset[str]  # goal, task titles and recent messages together
    last_question: str  # the agent's last message, if it asks something


class Overlap(Struct, frozen=True, gc=False):
    """Which share of the message's tokens occurs in the goal and in the whole context; 0 if it has no tokens."""

    goal: float
    work: float
    tokens: frozenset[str]


def read_context(request: SemanticInput) -> Context:
    task = request.system_state.current_task
    goal_text = task.goal[:MESSAGE_CHARS] if task else ""
    goal = tokens_of(goal_text)
    work = set(goal)
    for known_task in request.tasks[:TASKS]:
        work |= tokens_of(known_task.title[:TITLE_CHARS])
    for message in request.recent_history[-MESSAGES:]:
        work |= tokens_of(message.content[:MESSAGE_CHARS])
    return Context(
        goal_text,
        goal,
        first_tokens(goal_text, CORE_TOKENS * 2 if is_chinese(goal_text) else CORE_TOKENS),
        frozenset(work),
        _last_question(request),
    )


def measure_overlap(text: str, context: Context) -> Overlap:
    tokens = tokens_of(text)
    if not tokens:
        return Overlap(0.0, 0.0, tokens)
    return Overlap(len(tokens & context.goal) / len(tokens), len(tokens & context.work) / len(tokens), tokens)


def _last_question(request: SemanticInput) -> str:
    """Return the end of the last message if an agent asks something there. Older questions count as answered."""
    last = request.recent_history[-1] if request.recent_history else None
    if last is None or last.role != "agent":
        return ""
    end = last.content.strip()[-400:]
    return end if end.rstrip("*_ )\"'”").endswith(("?", "？", "吗", "呢")) or "?" in end or "？" in end else ""
