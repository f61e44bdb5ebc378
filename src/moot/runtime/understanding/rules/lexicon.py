"""Reads the lexicons, `lexicon/LANGUAGE.txt`: phrases that a speaker of the language can review.

`lexicon/README.md` describes the format. A phrase becomes a regular expression; in languages with spaces each word of
it ends in one, so that a phrase never matches a part of a word.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from re import Pattern

from msgspec import Struct

from moot.core.session.team import DEFAULT_LANGUAGE, LANGUAGES, Language
from moot.runtime.understanding.rules.tokens import count_chinese, is_chinese, words_of
from moot.runtime.understanding.rules.word_files import WordSection, read_sections

_SYMBOLS = re.compile(r"\(\?<?[!=]|[()|?…~^$#]|\{[a-z][a-z ]*\}|<\w+>|[{}<>]|\s+|[^\s()|?…~^$#<>{}]+")
_REPEATED = re.compile(r"^[*+]")  # a repeated group never gives back: no pattern takes exponential time
_NOT_COMPILED = ("part", "reads")
_LETTERS = re.compile(r"([a-z])\1{2,}")  # "stooop"
_SPACE_BY_CHINESE = re.compile(r"(?<=[一-鿿]) +| +(?=[一-鿿])")


class Section(Struct, frozen=True, gc=False):
    """The phrases of one meaning, and sentences that must or must not have it (tests/runtime/understanding)."""

    name: str
    mode: str
    reason: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]
    patterns: tuple[Pattern[str], ...]

    def match(self, text: str) -> bool:
        """Whether a phrase matches as the section's mode says. `text` is as `Lexicon.spell` returns it."""
        return next(self.matches(text), None) is not None

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """One match for each pattern that has one."""
        for pattern in self.patterns:
            if self.mode in ("whole", "repeats"):
                match = pattern.fullmatch(text)
            else:
                match = pattern.match(text) if self.mode in ("start", "opening") else pattern.search(text)
            if match:
                yield match


class Lexicon(Struct, frozen=True, gc=False):
    language: Language
    sections: Mapping[str, Section]
    spelling: Mapping[str, str]
    has_spaces: bool

    def __getitem__(self, name: str) -> Section:
        return self.sections[name]

    def spell(self, clause: str) -> str:
        """Write a clause as the phrases do: known spellings, single spaces, one at the end if words have spaces."""
        if self.has_spaces:
            words = (_LETTERS.sub(r"\1", word) for word in words_of(clause))
            return "".join(f"{self.spelling.get(word, word)} " for word in words)
        for variant, usual in self.spelling.items():
            clause = clause.replace(variant, usual)
        return _SPACE_BY_CHINESE.sub("", clause)

    def strip(self, text: str, *sections: str) -> str:
        """Take phrases of `strips` sections off the start of a text."""
        for name in sections:
            match = self.sections[name].patterns[0].match(text)
            text = text[match.end() :] if match else text
        return text

    def leave_out(self, text: str, section: str) -> str:
        """Leave the words of a section out, wherever they are."""
        return self.sections[section].patterns[0].sub("", text) or text

    def strip_end(self, text: str, section: str) -> str:
        match = self.sections[section].patterns[1].search(text)
        return text[: match.start()] if match and match.start() else text


def find_lexicon(clause: str) -> Lexicon:
    """The lexicon to read a clause with: one Chinese character makes it Chinese."""
    return load("zh" if count_chinese(clause) else DEFAULT_LANGUAGE)


def detect_language(text: str) -> Language:
    """The language of a text, as far as the script tells."""
    return "zh" if is_chinese(text) else DEFAULT_LANGUAGE


@cache
def load(language: Language) -> Lexicon:
    """Read the lexicon of a language. Raises ValueError with the line that is wrong."""
    if language not in LANGUAGES:
        raise ValueError(f"no lexicon for {language!r}")
    has_spaces = language != "zh"
    raw = read_sections(f"{language}.txt")
    compiler = _Compiler(raw, has_spaces=has_spaces)
    sections = {name: compiler.compile(section) for name, section in raw.items() if section.mode not in _NOT_COMPILED}
    return Lexicon(language, sections, dict(_read_spelling(raw["spelling"].lines)), has_spaces)


def _read_spelling(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        usual, variants = line.split(":")
        yield from ((variant, usual) for variant in variants.split())


class _Compiler:
    """Turns phrases into patterns. A section in braces is compiled where it is used."""

    def __init__(self, sections: Mapping[str, WordSection], *, has_spaces: bool) -> None:
        self._sections = sections
        self._has_spaces = has_spaces
        self._numbers = count()
        self._parts: dict[str, str] = {}

    def compile(self, section: WordSection) -> Section:
        return Section(
            section.name,
            section.mode,
            section.reason,
            tuple(section.examples),
            tuple(section.counterexamples),
            tuple(
                re.compile(pattern) for pattern in _combine(section.mode, self._alternatives(section.name), self._start)
            ),
        )

    @property
    def _start(self) -> str:
        """Where a phrase may begin in the middle of a text."""
        return r"(?:^|(?<= ))" if self._has_spaces else ""

    def _alternatives(self, name: str) -> list[str]:
        section = self._sections[name]
        if section.mode == "words":
            end = " " if self._has_spaces else ""
            return [f"{re.escape(word)}{end}" for line in section.lines for word in line.split()]
        phrases = [phrase for line in section.lines for phrase in _split_phrases(line)]
        return [self._translate(phrase) for phrase in phrases]

    def _part(self, name: str) -> str:
        if name not in self._parts:
            if name not in self._sections:
                raise ValueError(f"no section [{name}]")
            self._parts[name] = "|".join(self._alternatives(name))
        return f"(?:{self._parts[name]})"

    def _translate(self, phrase: str) -> str:
        """Translate symbol by symbol. An item is what a following `?` makes optional."""
        items: list[list[str]] = [[]]  # one list for each open parenthesis
        for symbol in _SYMBOLS.findall(phrase):
            last = items[-1]
            if symbol.startswith("("):
                items.append([symbol if symbol != "(" else "(?:"])
            elif symbol == ")":
                items.pop()
                items[-1].append("".join([*last, ")"]))
            elif symbol == "?" and self._has_spaces:
                last[-1] = f"(?:{last[-1]})?"
            elif not symbol.isspace():
                last.append(self._translate_symbol(symbol))
        return "".join(items[0])

    def _translate_symbol(self, symbol: str) -> str:
        if symbol.startswith("{") and symbol != "{":
            return self._part(symbol[1:-1])
        if symbol.startswith("<") and symbol != "<":
            group = f"(?P<{symbol[1:-1]}_{next(self._numbers)}>"
            return rf"{group}(?:\S+ ){{1,8}}?)" if self._has_spaces else f"{group}[^,]{{1,20}}?)"
        if symbol in ("|", "^", "$", "?"):
            return symbol
        if not self._has_spaces:
            return {"…": ".*", "~": ".{0,8}"}.get(symbol) or _REPEATED.sub(r"\g<0>+", symbol)
        if symbol == "…":
            return r"(?:\S+ )*"
        if symbol == "~":
            return r"(?:\S+ ){1,3}"
        return re.escape(symbol).replace(r"\*", r"\S+?").replace(r"\#", r"\d+") + " "


def _split_phrases(line: str) -> Iterator[str]:
    """Split a line at the bars that stand outside of parentheses."""
    depth, start = 0, 0
    for index, char in enumerate(line):
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            yield line[start:index].strip()
            start = index + 1
    yield line[start:].strip()


def _combine(mode: str, phrases: list[str], start: str) -> list[str]:
    """Return the patterns of a section; `start` is where a phrase may begin in the middle of a text."""
    # A phrase with <goal> stays alone: if its words do not name the goal, the others still count.
    plain = [phrase for phrase in phrases if "(?P<goal" not in phrase]
    with_goal = [phrase for phrase in phrases if "(?P<goal" in phrase]
    one = f"(?:{'|'.join(plain)})"
    longest_first = f"(?:{'|'.join(sorted(phrases, key=len, reverse=True))})"
    match mode:
        case "whole":
            return ["|".join(plain), *with_goal]
        case "anywhere" | "words":
            return [start + one, *(f"{start}(?:{phrase})" for phrase in with_goal)]
        case "each":
            return [f"{start}(?:{phrase})" for phrase in phrases]
        case "repeats":
            return [f"{longest_first}++"]
        case "strips":  # from the start, and from the end
            return [f"{longest_first}++", f"{start}{longest_first}++$"]
        case _:
            return [one]
