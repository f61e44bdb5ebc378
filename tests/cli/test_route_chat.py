"""`moot route chat`: the exact contract of surfaces, line by line."""

import json
from typing import Any

import pytest

from tests.cli.command import CHAT, TEAMS, Moot
from tests.cli.route_cases import CASES, TEAM, answer


def ask(moot: Moot, *questions: dict[str, Any]) -> list[Any]:
    said = moot("route", "chat", stdin="".join(json.dumps(each) + "\n" for each in questions).encode())
    assert (said.code, said.err) == (0, "")
    return said.objects


@pytest.mark.parametrize("case", CASES)
def test_every_field_of_every_answer(case: str, moot: Moot) -> None:
    """The whole object comes back, and a refused sender or an empty text adds a notice and replaces nothing."""
    question, expected = CASES[case]
    assert ask(moot, {"team": TEAM, "queue": [], "speaker": "alice", **question}) == [expected]


def test_fields_stand_in_the_order_of_the_contract(moot: Moot) -> None:
    """People read these lines too."""
    ((_, expected), *_) = CASES.values()
    (given,) = ask(moot, {"team": TEAM, "speaker": "alice", "text": "[NEXT: bob] hi"})
    assert list(given) == list(expected)
    assert list(given["markers"]) == list(expected["markers"])
    assert list(given["action"]) == list(expected["action"])


def test_slips_earn_the_notices_of_a_session(moot: Moot) -> None:
    """A marker that is none and a first word that names nobody are told; an AI's words mention nobody."""
    texts = ("【NEXT：Bob】 go", "@bobb go")
    given = [ask(moot, {"team": TEAM, "speaker": who, "text": text})[0] for who in ("alice", "bob") for text in texts]
    codes = [[notice["code"] for notice in each["notices"]] for each in given]
    assert codes == [
        ["look_alike_marker", "nobody_addressed"],
        ["mention_unknown", "nobody_addressed"],
        ["look_alike_marker"],
        [],
    ]


def test_done_of_a_human_ends_the_session(moot: Moot) -> None:
    """It beats NEXT in the same message: completed, the queue empty, nobody waited for."""
    (given,) = ask(moot, {"team": TEAM, "speaker": "zoe", "queue": ["bob"], "text": "bye [DONE] [NEXT: carol]"})
    assert given["markers"]["done"] is True
    assert (given["status"], given["waiting_for"], given["queue"], given["queue_updates"]) == (
        "completed",
        None,
        [],
        [],
    )
    assert (given["clean"], given["resolved"], given["notices"]) == ("bye  ", ["carol"], [])
    assert set(given) == set(answer())


def test_at_most_ten_targets(moot: Moot) -> None:
    """The rest are skipped with the notice for skipped names; markers list what was written."""
    names = ["bob", "carol"] * 6
    (given,) = ask(moot, {"team": TEAM, "speaker": "alice", "text": f"[NEXT: {', '.join(names)}]"})
    assert given["markers"]["next"] == names
    assert given["queue"] == names[:10]
    assert given["notices"][0]["names"] == names[10:]


def test_a_team_may_be_a_path_a_name_or_an_object(moot: Moot) -> None:
    """All three are routed alike; only files need `moot` and `name`."""
    by_path, by_name, inline = ask(
        moot,
        {"team": CHAT, "speaker": "alice", "text": "[NEXT: Bob]"},
        {"team": "chat-demo", "speaker": "you", "text": "[NEXT: Bob]"},
        {"team": TEAM, "speaker": "alice", "text": "[NEXT: Bob]"},
    )
    assert by_path == by_name == inline


def test_what_may_be_left_out(moot: Moot) -> None:
    """No queue is an empty one; without a speaker the only human speaks."""
    (given,) = ask(moot, {"team": "chat-demo", "text": "[NEXT: Bob]"})
    assert (given["queue"], given["notices"]) == (["bob"], [])


def test_notices_speak_the_teams_language(moot: Moot) -> None:
    """The code is the same, the text is not."""
    (given,) = ask(moot, {"team": {**TEAM, "language": "zh"}, "speaker": "alice", "text": "[NEXT: bob, x]"})
    assert given["notices"] == [{"code": "names_skipped", "text": "⚠️ 'x' 不在当前团队中，已跳过", "names": ["x"]}]


@pytest.mark.parametrize(
    ("text", "code", "shown"),
    [
        ("【NEXT：Bob】 hi", "look_alike_marker", "[NEXT: Bob]"),
        ("[NEXT Bob] hi", "look_alike_marker", "[NEXT: Bob]"),
        ("@bobb hi", "mention_unknown", "@Bob"),
        ("@dora hi", "mention_of_nobody", "@dora"),
    ],
)
def test_what_was_meant_to_name_somebody_earns_its_notice(text: str, code: str, shown: str, moot: Moot) -> None:
    """The same notice as in a session, before the one that nobody was addressed."""
    (given,) = ask(moot, {"team": TEAM, "speaker": "alice", "text": text})
    assert [notice["code"] for notice in given["notices"]] == [code, "nobody_addressed"]
    assert shown in given["notices"][0]["text"]


BAD_LINES = {
    "no JSON": b"[NEXT: bob] hi",
    "half JSON": b'{"team": ',
    "no object": b"[]",
    "no text": b'{"team": "chat-demo"}',
    "no team": b'{"text": "hi"}',
    "a text that is none": b'{"team": "chat-demo", "text": 5}',
    "an unknown team": b'{"team": "no-such-team", "text": "hi"}',
    "a broken team": b'{"team": {"members": [{"id": "a"}]}, "text": "hi"}',
    "a broken team file": json.dumps({"team": str(TEAMS / "broken" / "several.yaml"), "text": "hi"}).encode(),
    "a stranger in the queue": b'{"team": "chat-demo", "queue": ["dora"], "text": "hi"}',
    "no UTF-8": b'{"team": "chat-demo", "text": "\xff\xfe"}',
    "a lone surrogate": b'{"team": "chat-demo", "text": "\\ud800"}',
    "too deep": b'{"team": {"name": ' + b"[" * 100_000 + b"]" * 100_000 + b'}, "text": "hi"}',
}


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_is_answered_and_so_are_the_others(bad: str, moot: Moot) -> None:
    """An object with one field, `error`, in its place; blank lines are no lines; exit 1 tells that there was one."""
    good = b'{"team": "chat-demo", "text": "[NEXT: bob] hi"}'
    said = moot("route", "chat", stdin=b"\n".join([good, BAD_LINES[bad], b"", good, b""]))
    before, error, after = said.objects
    assert before == after
    assert before["queue"] == ["bob"]
    assert list(error) == ["error"]
    assert error["error"]
    assert (said.code, said.err) == (1, "")
