"""Problems of a team file are told in the language of the team."""

import ast
import re

import pytest

from moot.config.loading import list_problems
from moot.config.phrase import Phrase, tell
from moot.config.problem import Problem
from moot.config.yaml_source import read_yaml
from tests.tidy.sources import PACKAGE, list_python_files, parse, place

BAD = {
    "flow": "plan",
    "rolle": "x",
    "members": [
        {"id": "an", "kind": "human"},
        {"id": "bot", "kind": "robot"},
        {"id": "w", "kind": "ai", "role": "plannner", "agent": {"type": "cli"}},
        {"id": "a,b", "kind": "ai", "agent": {"type": "script", "replies": 5}},
    ],
    "plan": {"max_parallel": 0},
}


def test_a_chinese_team_is_told_in_chinese() -> None:
    """Every sentence, with what was found in it, and the names of keys as they are written in the file."""
    told = {problem.where: problem.sentence for problem in list_problems({**BAD, "language": "zh"})}
    assert told["rolle"].startswith("未知的键 'rolle'; 这里的键有：moot, name")
    assert told["members[1].kind"] == "这里不能是文本 'robot'; 可选：human, ai"
    assert told["members[2].role"] == "plan 流程没有角色 'plannner'; 是不是 'planner'？"
    assert told["members[2].agent"] == "cli agent 需要 preset 或 command"
    assert told["members[3].agent.replies"] == "这是数字 5；应为列表"
    assert told["plan.max_parallel"] == "这是0；应为不小于 1"


def test_other_teams_are_told_in_english() -> None:
    """The same problems at the same places."""
    english, chinese = list_problems({**BAD, "language": "en"}), list_problems({**BAD, "language": "zh"})
    assert [problem.where for problem in english] == [problem.where for problem in chinese]
    assert not any(re.search(r"[\u4e00-\u9fff]", problem.text) for problem in english)


def test_a_phrase_is_its_english_text() -> None:
    """It can be compared and shown as it is; text that is no phrase is the same in every language."""
    phrase = Phrase("team.expected", value=Phrase("team.value.list"), wanted=Phrase("team.type.text"))
    assert (phrase, tell(phrase, "zh")) == ("found a list; expected text", "这是列表；应为文本")
    assert tell("a file's own words", "zh") == "a file's own words"


@pytest.mark.parametrize("text", [b"", b"a: [", b"a: 1\na: 2", b"\xff", b"a: &x [*x]", b"? [1]\n: 2", b"!x y"])
def test_files_that_cannot_be_read_are_told_in_both(text: bytes) -> None:
    """What is found before the language is known can be told in each of them."""
    problems = read_yaml(text).problems
    assert problems
    assert all(tell(problem.text, "zh") != problem.text for problem in problems)


def test_every_problem_is_a_phrase() -> None:
    """No sentence about a team file stands in the code, where it would have one language only."""
    calls = [
        (place(path), call.lineno, keyword)
        for path in list_python_files()
        if path.is_relative_to(PACKAGE / "config") or path.is_relative_to(PACKAGE / "agents")
        for call in ast.walk(parse(path))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == Problem.__name__
        for keyword in call.keywords
        if keyword.arg in ("text", "hint")
    ]
    assert len(calls) > 60
    assert [call[:2] for call in calls if isinstance(call[2].value, (ast.Constant, ast.JoinedStr))] == []
