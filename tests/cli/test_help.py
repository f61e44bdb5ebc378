"""`--help` of every command shows examples that work, and what every command has."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from moot.cli.examples import EXAMPLES
from moot.cli.main import COMMANDS, make_parser
from moot.cli.parser import count_columns, list_actions, list_subparsers
from tests.cli.command import CHAT, Moot


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_help_has_examples(moot: Moot, name: str) -> None:
    """At the end of the page, one a line; every command and action has some."""
    said = moot(*name.split(), "--help")
    assert said.code == 0
    assert "examples:\n  " in said.out
    assert "--debug" in said.out
    assert all(f"  {example}\n" in said.out for example in EXAMPLES[name])


def test_every_command_is_in_the_table() -> None:
    """A command without examples cannot be added."""
    assert set(COMMANDS) <= set(EXAMPLES)


@pytest.mark.parametrize("example", [example for examples in EXAMPLES.values() for example in examples])
def test_an_example_is_a_command_line_that_is_understood(example: str) -> None:
    """Its options exist and take these values."""
    command = re.sub(r'^eval "\$\((.*)\)"$', r"\1", example).rpartition("| ")[2].partition(" > ")[0]
    program, *arguments = shlex.split(command)
    assert program == "moot"
    make_parser(arguments[0]).parse_args(arguments)


@pytest.mark.parametrize("words", [("help",), ("--help",), ("-h",)])
def test_help_is_found_by_what_people_type(moot: Moot, words: tuple[str, ...]) -> None:
    """`moot help` is `moot --help`."""
    said = moot(*words)
    assert (said.code, said.out.startswith("usage: moot")) == (0, True)


@pytest.mark.parametrize("words", [("version",), ("--version",), ("-V",)])
def test_the_version_is_found_by_what_people_type(moot: Moot, words: tuple[str, ...]) -> None:
    """`moot version` and `moot -V` are `moot --version`."""
    assert re.fullmatch(r"moot \d+\.\d+\S*\n", moot(*words).out)


@pytest.mark.parametrize("typed", ["-v run missing.yaml --say hi", "run missing.yaml --say hi --debug"])
def test_debug_shows_where_an_error_comes_from(moot: Moot, typed: str) -> None:
    """The traceback, then the sentence; the exit code is the same."""
    said = moot(*typed.split())
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("Traceback")
    assert said.err.splitlines()[-1].startswith("moot: no team file 'missing.yaml'")


def test_answers_that_nobody_needed_are_named(moot: Moot) -> None:
    """The run is accepted; stderr says that they were not used."""
    said = moot("run", CHAT, "--say", "alice: hello", "--answer", "approve", "later on")
    assert (said.code, "not used, as no question was open: --answer approve 'later on'" in said.err) == (0, True)


def test_a_token_for_nobody_is_noted(moot: Moot) -> None:
    """It is made all the same: the team may be elsewhere."""
    said = moot("token", "create", "--role", "member", "--member", "nobody")
    assert said.code == 0
    assert "note: no team file in this folder has a human 'nobody'" in said.err
    assert "Save it now: it is not shown again" in said.err
    assert "note:" not in moot("token", "create", "--role", "member", "--member", "you").err


def parsers() -> Iterator[argparse.ArgumentParser]:
    """Of `moot`, and of every command and action."""
    yield make_parser("run")
    for name in EXAMPLES:
        command, *actions = name.split()
        parser = list_subparsers(make_parser(command))[command]
        yield list_subparsers(parser)[actions[0]] if actions else parser


def test_help_speaks_the_language_of_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every description, every argument, and the headings."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for parser in parsers():
        told = [parser.description, *(action.help for action in list_actions(parser) if not action.choices)]
        assert [text for text in told if not re.search(r"[\u4e00-\u9fff]", text or "")] == [], parser.prog
        page = parser.format_help()
        assert not re.search(r"usage:|positional arguments|options:|show this|examples:", page), page


def test_a_page_of_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chinese has no spaces to break at, and each of its characters takes two columns; no mark begins a line."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setenv("COLUMNS", "80")
    for parser in parsers():
        lines = parser.format_help().partition("示例")[0].splitlines()
        assert [line for line in lines if count_columns(line) > 80 or re.match(r"\s*[、。！），：；？]", line)] == []


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("nonsense", "没有命令 'nonsense'；可用的命令：demo, init,"),
        ("sessions lst", "sessions 没有操作 'lst'；是不是 'list'？ 参见 `moot sessions --help`"),
        ("run chat-demo hello", "run 没有参数 'hello'；是不是想写 --say hello？ 参见 `moot run --help`"),
        ("serve --port x", "--port: 'x' 不是端口；请用 0 到 65535 的数字；参见 `moot serve --help`"),
        ("demo --web --plain", "--plain 不能和 --web 一起用；参见 `moot demo --help`"),
        ("sessions show", "sessions show 需要 ID；参见 `moot sessions show --help`"),
    ],
)
def test_a_wrong_command_line_is_told_in_the_language_of_the_locale(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, typed: str, sentence: str
) -> None:
    """The sentence on stderr; the exit code is that of every language."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    said = moot(*typed.split())
    assert (said.code, said.err.startswith(f"moot: {sentence}")) == (2, True), said.err
