"""From clauses to acts: each language's table is asked in turn, with and without what stands before the point."""

import re

from msgspec import Struct

from moot.runtime.understanding.rules.acts import Act, Language
from moot.runtime.understanding.rules.lexicon_en import ENGLISH
from moot.runtime.understanding.rules.lexicon_zh import CHINESE
from moot.runtime.understanding.rules.words import Prose, count_chinese

# "wait" or "ok stop" are whole sentences although "wait" and "ok" may also be mere beginnings.
_WHOLE = (
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
_RUN = (Act.KEEP_RUNNING, Act.STATUS, Act.PAUSE, Act.CANCEL, Act.RESUME, Act.GO_ON)
_POLITE = re.compile(
    r"(?:let'?s|(?:can|could|would|will) (?:you|we|u)(?: please| pls| just)*|would you mind|i want you to|please)\s+"
    r"|(?:能不能|可以|能|可不可以|咱们?|我们)(?:先)?"
)
_GERUND = re.compile(r"^(stop|paus|cancell?|abort)(?:p?ing)\b")
_ASKED = (*_RUN, Act.RETRY, Act.EXPLAIN, Act.SUGGEST, Act.SWITCH)  # what a question mark leaves as it is


class Clause(Struct, frozen=True, gc=False):
    text: str
    core: str  # without its lead
    act: Act
    language: Language
    is_question: bool


def read_clauses(prose: Prose) -> tuple[Clause, ...]:
    return tuple(_read(text, is_question=is_question) for text, is_question in prose.clauses)


def _read(text: str, *, is_question: bool) -> Clause:
    language = CHINESE if count_chinese(text) else ENGLISH
    lead = language.lead.match(text)
    core = text[lead.end() :].strip() if lead else text
    core = core or text
    act = _find_asked_control(core, language) or _find(text, core, language)
    if act is None and language is CHINESE:  # "commit 一下", "about us 吧"
        act = _find(text, core, ENGLISH)
    if act in (Act.WISH, Act.ORDER) and core.startswith("if "):
        act = Act.FACT  # a condition, not the wish
    if act is Act.EXPLAIN and not is_question and language.additive.search(text):
        act = Act.ORDER  # "also check the spelling" is more work, not a question
    if is_question and act not in _ASKED:
        act = Act.SUGGEST if act is Act.ORDER and language is ENGLISH else Act.QUERY
    return Clause(text, core, act or Act.FACT, language, is_question)


def _find_asked_control(core: str, language: Language) -> Act | None:
    """As in "could you stop please", "would you mind pausing"."""
    polite = _POLITE.match(core)
    if not polite:
        return None
    rest = _GERUND.sub(
        lambda found: {"paus": "pause", "cancell": "cancel"}.get(found[1], found[1]), core[polite.end() :]
    )
    return next((act for act in _RUN if act is not Act.STATUS and language.acts[act].match(rest)), None)


def _find(text: str, core: str, language: Language) -> Act | None:
    if core != text:
        for act in _WHOLE:
            if language.acts[act].match(text):
                return act
    found = next((act for act, pattern in language.acts.items() if pattern.match(core)), None)
    if found is None and core != text:
        found = next((act for act, pattern in language.acts.items() if pattern.match(text)), None)
    return found
