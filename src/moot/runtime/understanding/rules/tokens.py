"""Splits a message into clauses and into tokens: stems of English words and pairs of Chinese characters."""

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

from moot.runtime.understanding.rules.word_files import read_sections

READ_CHARS = 3_000  # of a message: its start (two thirds) and its end; the middle of a long paste holds no order
CLAUSES, CLAUSE_CHARS = 8, 120  # the first clauses, and the start of each

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ERROR = re.compile(
    r"(?<=[:：\s])(?:[\w.]*Error|Exception|error|fatal)(?:\[\w+\])?:\s.{12,}"
)  # an error message after other words
_REPEATED = re.compile(r"\b([a-z]{2,10})(?:[ ,!]+\1\b)+")
_PASTED = re.compile(
    r"""^\s*(?:
      Traceback\ \(most | File\ ".*",\ line | at\ [\w$.<>]+\s?\( | \#\d+\s | \d{4}-\d\d-\d\d[T\ ]\d\d: |
      \[?\d\d:\d\d:\d\d
    | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|FAIL(?:ED)?)\b
    | (?:error|export|import|warning)\ .*(?:was\ not\ found|in\ \./)
    | [\w.]*(?:Error|Exception|Warning|Panic)\b\s*[:(\[] | (?:error|warning|fatal|panic|npm\ ERR!|FAILED)\b.*[:\[]
    | \$\s\S | >>>\s | [-+]{3}\s | @@\s | [|+][-=|+\s]{4} | \{\s*" | </?\w+[^>]*>\s*$ | .*\bexit\ (?:code|status)\ \d
    | .*[{};]\s*$ | (?:\w+\.)+\w+\(.*\)\s*$ | \d+\s*\|\s
    )""",
    re.VERBOSE,
)
_CLAUSES = re.compile(
    r"([\n;；。！!？?…]+|(?<!\d)[,，、](?!\d)|[,，、](?=\s)|[.:](?=\s|$)|:(?=[一-鿿])|\s+[-–—]+\s+"
    r"|\s(?=but\b|so (?:please|pls|can you|could you)\b)|(?=但是|然后再|而是))"
)
_ENGLISH = re.compile(r"[a-z0-9_+#]++(?:['./-]++[a-z0-9_+#]++)*+", re.ASCII)
_CHINESE = re.compile(r"[一-鿿]+")
_PARTS = re.compile(r"[^\s一-鿿]+|[一-鿿]{1,8}")
_QUESTION_MARK = re.compile(r"[?？]")
_TOPICS = read_sections("topics.txt")
_STOP_WORDS = frozenset(_TOPICS["stop words"].words.split())
_STOP_CHARS = frozenset(_TOPICS["stop characters"].words)
_KNOWN_PAIRS = frozenset(  # words of the topics, even with a character that mostly says nothing: 会员
    word
    for section in _TOPICS.values()
    if not section.name.startswith("stop")
    for word in section.words.split()
    if len(word) == 2 and not word.isascii()
)
_SUFFIXES = ("ings", "ing", "ions", "ion", "ments", "ment", "edly", "ed", "ers", "es", "er", "ly", "s")


class Prose(Struct, frozen=True, gc=False):
    """The words of a message, in lower case, without pasted code, logs and tracebacks."""

    text: str
    clauses: tuple[tuple[str, bool], ...]  # each with whether it ends in a question mark
    is_pasted: bool


def normalise(raw: str) -> str:
    """Replace full-width letters and curly quotes by plain ones; cut the middle out of a long text."""
    if len(raw) > READ_CHARS:
        raw = f"{raw[: READ_CHARS * 2 // 3]}\n{raw[-READ_CHARS // 3 :]}"
    text = unicodedata.normalize("NFKC", raw).replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    return text.strip()


def read_prose(text: str) -> Prose:
    """Remove what was pasted and split the rest into clauses."""
    fenceless = _ERROR.sub("", _FENCE.sub("\n", text))
    lines = fenceless.split("\n")
    written = [line for line in lines if not _PASTED.match(line)] if len(lines) > 1 or len(text) > 60 else lines
    is_pasted = len(fenceless) != len(text) or len(written) < len(lines)
    words = "\n".join(line for line in written if line.strip()).strip().lower()
    words = _REPEATED.sub(r"\1", words)  # "wait wait wait"
    parts = _CLAUSES.split(words)  # clauses at even places, the marks behind them at odd ones
    clauses = tuple(
        (clause[:CLAUSE_CHARS], has_question_mark(mark or ""))
        for part, mark in zip(parts[::2], [*parts[1::2], ""], strict=True)
        if (clause := part.strip(" \t\"'()*-,，·"))
    )
    return Prose(words, clauses[:CLAUSES], is_pasted)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Reduce a word to a rough stem, so that `migration`, `migrating` and `migrates` compare equal."""
    word = word.removesuffix("'s").strip("'./-")
    if len(word) > 4:
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                word = word[: -len(suffix)]
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def first_tokens(text: str, count: int) -> frozenset[str]:
    """The tokens of the first words, until there are `count`: the start of a long goal says what it is about."""
    tokens: dict[str, None] = {}
    for word in _PARTS.findall(text.lower()):
        tokens.update(dict.fromkeys(sorted(tokens_of(word))))
        if len(tokens) >= count:
            break
    return frozenset(tokens)


def tokens_of(text: str) -> frozenset[str]:
    """Stems of the English words and pairs of Chinese characters, without stop words."""
    lowered = text.lower()
    words = [word for word in _ENGLISH.findall(lowered) if word not in _STOP_WORDS]
    parts = [part for word in words if "-" in word for part in word.split("-") if part not in _STOP_WORDS]
    tokens = {stem(word) for word in (*words, *parts)}  # "10-slide" is about slides, too
    for run in _CHINESE.findall(lowered):
        pairs = (run[i : i + 2] for i in range(len(run) - 1))
        tokens.update(pair for pair in pairs if pair in _KNOWN_PAIRS or _is_telling(pair))
    tokens.discard("")
    return frozenset(tokens)


def _is_telling(pair: str) -> bool:
    return pair not in _STOP_WORDS and not _STOP_CHARS.intersection(pair)


def words_of(text: str) -> list[str]:
    return _ENGLISH.findall(text)


def count_chinese(text: str) -> int:
    return sum(len(run) for run in _CHINESE.findall(text))


def is_chinese(text: str) -> bool:
    """Mixed text counts as Chinese: English names in Chinese sentences are common, the reverse is not."""
    return count_chinese(text) * 2 >= len(words_of(text.lower())) and bool(_CHINESE.search(text))


def has_question_mark(text: str) -> bool:
    return bool(_QUESTION_MARK.search(text))
