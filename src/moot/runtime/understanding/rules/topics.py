"""What texts are about: fields of life and work, rival technologies, kinds of deliverables (`lexicon/topics.txt`)."""

from moot.runtime.understanding.rules.tokens import tokens_of
from moot.runtime.understanding.rules.word_files import read_sections

_SECTIONS = read_sections("topics.txt")
FIELDS = {name: tokens_of(section.words) for name, section in _SECTIONS.items() if section.mode in ("field", "private")}
PRIVATE_FIELDS = frozenset(name for name, section in _SECTIONS.items() if section.mode == "private")
_RELATED_FIELDS = tuple(frozenset(line.split()) for line in _SECTIONS["related"].lines)
_RIVALS = tuple(tokens_of(line) for line in _SECTIONS["rivals"].lines)
DELIVERABLES = tokens_of(_SECTIONS["deliverables"].words)
COMMON_PARTS = tokens_of(_SECTIONS["parts"].words)
_LANGUAGES = "英德法日韩俄西葡"


def fields_of(tokens: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, known in FIELDS.items() if tokens & known)


def shares_field(word: str, work: frozenset[str]) -> bool:
    """Whether a word is of the same field as the work, as "header" is if the work is a web page."""
    return bool(fields_of(frozenset({word})) & fields_of(work))


def is_private(tokens: frozenset[str], work: frozenset[str]) -> bool:
    """Whether the tokens are of private fields only, and the work of none of them."""
    fields = fields_of(tokens)
    return bool(fields) and fields <= PRIVATE_FIELDS and not fields & fields_of(work)


def is_unrelated(tokens: frozenset[str], work: frozenset[str]) -> bool:
    """Whether the fields of the tokens have nothing to do with those of the work. False if either has none."""
    fields, work_fields = fields_of(tokens), fields_of(work)
    if not fields or not work_fields or fields & work_fields:
        return False
    return not any(fields & related and work_fields & related for related in _RELATED_FIELDS)


def find_rivals(tokens: frozenset[str], goal: frozenset[str]) -> frozenset[str]:
    """Find technologies, languages or platforms that would replace one that the goal names."""
    tokens, goal = _unify_languages(tokens), _unify_languages(goal)
    return frozenset().union(*((group & tokens) - goal for group in _RIVALS if group & goal))


def _unify_languages(tokens: frozenset[str]) -> frozenset[str]:
    """Add 英语 for 英文, and so on: both name the same language."""
    names = (token for token in tokens if len(token) == 2 and token[1] == "文" and token[0] in _LANGUAGES)
    return tokens | {f"{name[0]}语" for name in names}
