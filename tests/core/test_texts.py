"""The catalogue of texts: every language says the same things, every code in use has a text, every text is used."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from string import Formatter

import pytest

from moot.core.machines.catalogue import MACHINES
from moot.core.session.team import LANGUAGES, Language
from moot.core.texts import TEXTS, find_text, render
from tests.tidy.sources import PACKAGE, list_python_files, parse


def without_plural(code: str) -> str:
    return re.sub(r"\.(one|other)$", "", code)


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def strings_in_python() -> Iterator[str]:
    """Every string constant of the package; the parts of f-strings end with `*`, as the codes go on there."""
    for path in list_python_files(PACKAGE):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                yield f"{node.values[0].value!s}*"
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def strings_in_scripts() -> Iterator[str]:
    for path in sorted((PACKAGE / "web" / "js").rglob("*.js")):
        source = path.read_text(encoding="utf-8")
        yield from re.findall(r'"([^"\n]+)"', source)
        yield from (f"{start}*" for start in re.findall(r"`([^`$\n]+)\$\{", source))


def families() -> Iterator[str]:
    """The families whose codes are looked up by name: `words.term("phase", …)`, `word(t, "phase", …)`."""
    for path in [*list_python_files(PACKAGE / "tui"), *(PACKAGE / "web" / "js").rglob("*.js")]:
        for family in re.findall(r'(?:\.term\(|word\(t, )"(\w+)"', path.read_text(encoding="utf-8")):
            yield f"{family}.*"


def test_every_language_has_the_same_codes_in_the_same_order() -> None:
    """A translator can read two files side by side; only plural forms are a language's own."""
    codes = {language: list(dict.fromkeys(map(without_plural, texts))) for language, texts in TEXTS.items()}
    assert set(TEXTS) == set(LANGUAGES)
    assert all(listed == codes["en"] for listed in codes.values())
    assert all(text.strip() for texts in TEXTS.values() for text in texts.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_code_stands_twice(language: Language) -> None:
    """The second text of a code would replace the first without a word."""
    pairs: list[list[tuple[str, str]]] = []
    source = (PACKAGE / "texts" / f"{language}.json").read_text(encoding="utf-8")
    json.loads(source, object_pairs_hook=pairs.append)
    assert [code for code, count in Counter(code for code, _ in pairs[0]).items() if count > 1] == []


def test_every_language_uses_the_same_parameters() -> None:
    """No language leaves a fact out; only the Chinese text of `unresolved` does, which a contract fixes."""
    used: dict[str, dict[str, set[str]]] = {}
    for language, texts in TEXTS.items():
        for code, text in texts.items():
            used.setdefault(without_plural(code), {}).setdefault(language, set()).update(placeholders(text))
    used["unresolved"]["zh"].add("plain_names")
    assert {code: sets for code, sets in used.items() if len({frozenset(each) for each in sets.values()}) > 1} == {}


def test_texts_are_translated() -> None:
    """A text that is the same in two languages was forgotten, unless it has no words of its own."""
    words = {code: re.sub(r"\{.*?\}|tokens|AI", "", text) for code, text in TEXTS["en"].items()}
    same = {code for code, text in TEXTS["zh"].items() if text == TEXTS["en"].get(code)}
    assert {code for code in same if re.search(r"[a-zA-Z]{2}", words[code])} == set()


def test_every_state_of_a_machine_has_a_word() -> None:
    """The page tells where a machine stands in the reader's language, beside the code."""
    for machine in MACHINES:
        family = "state" if machine.name == "task" else "phase"
        for texts in TEXTS.values():
            assert [state for state in machine.states if f"ui.{family}.{state}" not in texts] == [], machine.name


def test_the_texts_of_the_screens_fill_in_plain_names_only() -> None:
    """The page knows `{name}`; formats and escapes of `str.format` would reach its readers as they are."""
    screens = [text for texts in TEXTS.values() for code, text in texts.items() if code.startswith(("ui.", "option."))]
    assert [text for text in screens if re.search(r"[{}]", re.sub(r"\{\w+\}", "", text))] == []


def test_every_text_is_used() -> None:
    """A code stands in the source, whole or as the beginning that an f-string completes."""
    strings = {*strings_in_python(), *strings_in_scripts(), *families()}
    starts = tuple(string.removesuffix("*") for string in strings if re.fullmatch(r"[a-z][\w.]*[._]\*", string))
    unused = []
    for code in {without_plural(code) for code in TEXTS["en"]}:
        names = {code, *(code.removeprefix(prefix) for prefix in ("ui.", "terminal."))}
        if not names & strings and not any(name.startswith(starts) for name in names):
            unused.append(code)
    assert sorted(unused) == []


def codes_in_python() -> Iterator[tuple[str, str]]:
    """Every code that is rendered, refused or posted by name, with the file."""
    for path in list_python_files(PACKAGE):
        for node in ast.walk(parse(path)):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            code: ast.expr | None = None
            if name in ("render", "find_text", "Refused", "ProtocolError") and node.args:
                code = node.args[0]
            if name == "NoticePosted":
                code = next((keyword.value for keyword in node.keywords if keyword.arg == "code"), None)
            if isinstance(code, ast.Constant):  # otherwise it is passed on from one of these
                yield path.name, str(code.value)


def test_every_code_in_use_has_a_text() -> None:
    """No refusal, no notice and no line without its texts."""
    used = list(codes_in_python())
    assert len(used) > 150
    assert [(file, code) for file, code in used if find_text(code, "en") is None] == []


def test_plural_forms_and_unknown_codes() -> None:
    """A text has the form for its number; a code of a newer version is shown as it is."""
    assert render("spending", "en", count=1, tokens=5) == "1 turn · 5 tokens"
    assert render("spending", "en", count=2, tokens=5) == "2 turns · 5 tokens"
    assert render("spending", "zh", count=1, tokens=5) == "1 轮 · 5 tokens"
    assert render("from_the_future", "en") == "[from_the_future]"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_missing_parameter_is_an_error(language: Language) -> None:
    """A text with a hole in it never reaches a reader."""
    with pytest.raises(KeyError):
        render("agent_error", language, who="Bob")
