"""Finds the act of each clause: an order, a question, a control, …"""

import re

from msgspec import Struct

from moot.runtime.understanding.rules.acts import Act, Lexicon
from moot.runtime.understanding.rules.lexicon_en import ENGLISH
from moot.runtime.understanding.rules.lexicon_zh import CHINESE
from moot.runtime.understanding.rules.lexicons import find_lexicon
from moot.runtime.understanding.rules.tokens import Prose

# Acts that are also looked for in the whole clause, before its lead is taken off: "ok stop" is a control although
# "ok" may be a mere beginning.
_WHOLE_CLAUSE = (
    Act.KEEP_RUNNING,
    Act.STATUS,
    Act.RESTART,
    Act.PAUSE,
    Act.CANCEL,
    Act.RESUME,
    Act.GO_ON,
    Act.DROP,
    Act.SWITCH,
    Act.RETRY,
    Act.ACK,
)
_CONTROLS = (Act.KEEP_RUNNING, Act.STATUS, Act.PAUSE, Act.CANCEL, Act.RESUME, Act.GO_ON)
_POLITE = re.compile(
    r"(?:let'?s|(?:can|could|would|will) (?:you|we|u)(?: please| pls| just)*|would you mind|i want you to|please)\s+"
    r"|(?:能不能|可以|能|可不可以|咱们?|我们)(?:先)?"
)
_GERUND = re.compile(r"^(stop|paus|cancell?|abort)(?:p?ing)\b")
_STAY_WITH_QUESTION_MARK = (*_CONTROLS, Act.RETRY, Act.EXPLAIN, Act.SUGGEST, Act.SWITCH)


class Clause(Struct, frozen=True, gc=False):
    text: str
    core: str  # the text without its lead ("ok so now please")
    act: Act
    lexicon: Lexicon
    is_question: bool


def read_clauses(prose: Prose) -> tuple[Clause, ...]:
    return tuple(_read_clause(text, is_question=is_question) for text, is_question in prose.clauses)


def _read_clause(text: str, *, is_question: bool) -> Clause:
    lexicon = find_lexicon(text)
    lead = lexicon.lead.match(text)
    core = text[lead.end() :].strip() if lead else text
    core = core or text
    act = _find_polite_control(core, lexicon) or _find_act(text, core, lexicon)
    if act is None and lexicon is CHINESE:  # "commit 一下", "about us 吧"
        act = _find_act(text, core, ENGLISH)
    if act in (Act.WISH, Act.ORDER) and core.startswith("if "):
        act = Act.FACT  # a condition
    if act is Act.EXPLAIN and not is_question and lexicon.additive.search(text):
        act = Act.ORDER  # "also check the spelling" is more work, not a question
    if is_question and act not in _STAY_WITH_QUESTION_MARK:
        act = Act.SUGGEST if act is Act.ORDER and lexicon is ENGLISH else Act.QUERY
    return Clause(text, core, act or Act.FACT, lexicon, is_question)


def _find_polite_control(core: str, lexicon: Lexicon) -> Act | None:
    """As in "could you stop please", "would you mind pausing"."""
    polite = _POLITE.match(core)
    if not polite:
        return None
    rest = _GERUND.sub(
        lambda match: {"paus": "pause", "cancell": "cancel"}.get(match[1], match[1]), core[polite.end() :]
    )
    return next((act for act in _CONTROLS if act is not Act.STATUS and lexicon.acts[act].match(rest)), None)


def _find_act(text: str, core: str, lexicon: Lexicon) -> Act | None:
    """Look for a control in the whole clause, then for any act in its core, then for any act in the whole clause."""
    if core == text:
        return _first_act(text, lexicon)
    control = next((act for act in _WHOLE_CLAUSE if lexicon.acts[act].match(text)), None)
    return control or _first_act(core, lexicon) or _first_act(text, lexicon)


def _first_act(text: str, lexicon: Lexicon) -> Act | None:
    return next((act for act, pattern in lexicon.acts.items() if pattern.match(text)), None)
