"""From clauses to acts: each language's table is asked in turn, with and without what stands before the point."""

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
    Act.ACK,
)
_ASKED = (Act.STATUS, Act.RETRY, Act.EXPLAIN, Act.SUGGEST, Act.SWITCH)  # what a question mark leaves as it is


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
    act = _find(text, core, language)
    if act is None and language is CHINESE:  # "commit 一下", "about us 吧"
        act = _find(text, core, ENGLISH)
    if is_question and act not in _ASKED:
        act = Act.SUGGEST if act is Act.ORDER and language is ENGLISH else Act.QUERY
    return Clause(text, core, act or Act.FACT, language, is_question)


def _find(text: str, core: str, language: Language) -> Act | None:
    if core != text:
        for act in _WHOLE:
            if language.acts[act].match(text):
                return act
    found = next((act for act, pattern in language.acts.items() if pattern.match(core)), None)
    if found is None and core != text:
        found = next((act for act, pattern in language.acts.items() if pattern.match(text)), None)
    return found
