"""Finds the act of each clause: an order, a question, a control, …"""

import re
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from moot.runtime.understanding.rules.lexicon import Lexicon, find_lexicon, load
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.tokens import Prose, tokens_of


class Act(StrEnum):
    """What a clause does. The values are sections of the lexicons, tried in this order; the first match counts."""

    KEEP_RUNNING = "keep running"
    STATUS = "status"
    SWITCH = "switch"
    RESTART = "restart"
    ASIDE = "put aside"
    PAUSE = "pause"
    CANCEL = "cancel"
    AWAY = "away"
    RESUME = "resume"
    GO_ON = "go on"
    TAKE_BACK = "take back"
    ACK = "ack"
    RETRY = "retry"
    EXPLAIN = "explain"
    SUGGEST = "suggest"
    QUERY = "query"
    WISH = "wish"
    ORDER = "order"
    FACT = "fact"  # nothing else matches


_NAMED_ACTS = tuple(act for act in Act if act is not Act.FACT)
PROGRESS_CHARS = 45
ORDERS = (Act.ORDER, Act.WISH, Act.SUGGEST)
_STAY_WITH_QUESTION_MARK = frozenset(
    {
        Act.KEEP_RUNNING,
        Act.STATUS,
        Act.ASIDE,
        Act.PAUSE,
        Act.CANCEL,
        Act.RESUME,
        Act.GO_ON,
        Act.TAKE_BACK,
        Act.RETRY,
        Act.EXPLAIN,
        Act.SUGGEST,
        Act.SWITCH,
    }
)
_WITHOUT_CONTROL = (Act.FACT, Act.ORDER, Act.WISH, Act.SUGGEST, Act.QUERY)
_CONTROL_WORDS = ((Act.PAUSE, "pause words", "pause key"), (Act.CANCEL, "end words", "end key"))


_JOINT = re.compile(r" and (?:then )?| then ")
_JOINED_CONTROLS = (Act.ASIDE, Act.PAUSE, Act.CANCEL, Act.TAKE_BACK)
_JOINED_ORDERS = (*ORDERS, Act.EXPLAIN, Act.RESTART)


class Clause(Struct, frozen=True, gc=False):
    """`text` is spelt as in the lexicon, `core` is the text without its lead ("ok so now please")."""

    text: str
    core: str
    act: Act
    lexicon: Lexicon
    names_goal: bool = False  # a control that names the goal: "stop the migration"

    def has(self, section: str) -> bool:
        """Whether a phrase of the section occurs in the text, or starts its core."""
        found = self.lexicon[section]
        return found.match(self.core) or found.match(self.text)

    @property
    def object(self) -> str:
        """What an order is about: its text without the verb, which other works have, too."""
        if not self.lexicon.has_spaces:
            return self.text
        kernel = self.lexicon.strip(self.core, "polite") or self.core
        _, _, rest = kernel.partition(" ")
        return rest if self.lexicon["order"].match(kernel) else kernel


def any_has(clauses: Iterable[Clause], section: str) -> bool:
    return any(clause.has(section) for clause in clauses)


def any_is(clauses: Iterable[Clause], *acts: Act) -> bool:
    return any(clause.act in acts for clause in clauses)


def read_clauses(prose: Prose, context: Context) -> tuple[Clause, ...]:
    return tuple(clause for text, is_question in prose.clauses for clause in _read_part(text, context, is_question))


def _read_part(written: str, context: Context, is_question: bool) -> tuple[Clause, ...]:
    """A part of the message: one clause, or two if a control and an order are joined: "stop this and help me"."""
    joint = _JOINT.search(written)
    if joint:
        control = _read_clause(written[: joint.start()], context, is_question=False)
        order = _read_clause(written[joint.end() :], context, is_question=is_question)
        if control.act in _JOINED_CONTROLS and order.act in _JOINED_ORDERS:
            return control, order
    return (_read_clause(written, context, is_question=is_question),)


def _read_clause(written: str, context: Context, *, is_question: bool) -> Clause:
    lexicon = find_lexicon(written)
    spelt = lexicon.spell(written)
    text = lexicon.strip(spelt, "reported") or spelt
    core = lexicon.strip(text, "lead") or text
    act, names_goal = _find_act(text, core, lexicon, context)
    if act is Act.FACT and not lexicon.has_spaces:  # "commit 一下", "about us 吧"
        act, names_goal = _find_act(f"{text} ", f"{core} ", load("en"), context)
    if act in _WITHOUT_CONTROL:
        act = _find_control_by_words(core, lexicon) or act
    act = _adjust(act, text, core, lexicon, is_question=is_question)
    if act is Act.SUGGEST and lexicon["hypothesis"].match(text) and _looks_for_a_cause(context):
        act = Act.QUERY  # "could it be the index?"
    return Clause(text, core, act, lexicon, names_goal)


def _find_control_by_words(core: str, lexicon: Lexicon) -> Act | None:
    """The control that a clause is, in whatever order, if no word of it carries anything else: "nothing more today"."""
    for act, words, key in _CONTROL_WORDS:
        if lexicon[words].match(core) and lexicon[key].match(core):
            return act
    return None


def _looks_for_a_cause(context: Context) -> bool:
    goal = context.goal_text.lower()
    return find_lexicon(goal)["inquiry"].match(goal)


def _find_act(text: str, core: str, lexicon: Lexicon, context: Context) -> tuple[Act, bool]:
    """Find the act, and whether it is a control that names the goal."""
    request = lexicon.strip(core, "polite") or core
    kernel = lexicon.strip_end(request, "tail")
    bare = lexicon.leave_out(kernel, "filler")
    ends = (lexicon.strip_end(text, "tail"), lexicon.strip_end(core, "tail"))
    whole = tuple(dict.fromkeys((text, core, *ends, request, kernel, bare)))
    for start in core, text:
        variants = {
            "whole": whole,
            "repeats": (start,),
            "start": (start,),
            "opening": (text, core),
            "anywhere": (core, text),
        }
        for act in _NAMED_ACTS:
            section = lexicon[act]
            for variant in variants[section.mode]:
                for match in section.matches(variant):
                    named = [value for name, value in match.groupdict().items() if value and name.startswith("goal")]
                    if all(_is_goal(name, context) for name in named):
                        return act, bool(named)
    return Act.FACT, False


def _is_goal(name: str, context: Context) -> bool:
    """Whether words name what the goal names, and nothing else."""
    tokens = tokens_of(name)
    return (bool(tokens) and tokens <= context.goal) or (name.strip() in context.goal_text and not name.isascii())


def _adjust(act: Act, text: str, core: str, lexicon: Lexicon, *, is_question: bool) -> Act:
    if act in (Act.WISH, Act.ORDER) and core.startswith("if "):
        return Act.FACT  # a condition
    if act in (Act.WISH, Act.ORDER, Act.RETRY) and (lexicon["report"].match(text) or lexicon["report"].match(core)):
        return Act.FACT
    if act is Act.EXPLAIN and not is_question and lexicon["additive"].match(text):
        return Act.ORDER  # "also check the spelling" is more work, not a question
    if is_question and act not in _STAY_WITH_QUESTION_MARK:
        act = Act.SUGGEST if act is Act.ORDER and lexicon.has_spaces else Act.QUERY
    if act in (Act.QUERY, Act.EXPLAIN) and _asks_for_progress(core, lexicon):
        return Act.STATUS
    return act


def _asks_for_progress(core: str, lexicon: Lexicon) -> bool:
    """As in "is module 3 finished?", "what remains to be done". Long questions are about the work."""
    is_short = len(core) <= (PROGRESS_CHARS if lexicon.has_spaces else PROGRESS_CHARS // 3)
    return is_short and lexicon["progress"].match(core) and not lexicon["no progress"].match(core)
