"""Whom a message is for: mentions, the default addressee, slips that name nobody."""

import pytest

from moot.core import limits
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.intake.markers import find_look_alike
from moot.core.intake.mentions import find_mentions
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted, NoticePosted, TurnStarted
from moot.core.session.team import Team, member
from moot.telling.teller import Teller
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only, turn_input

TEAM = Team(
    name="mixed",
    members=(
        member("ann", "human", name="Ann"),
        member("bob", "ai", name="Bob", position=1),
        member("bobby", "ai", name="Bobby", position=2),
        member("zs", "ai", name="Zhang San", position=3),
        member("xm", "ai", name="小明", position=4),
        member("gpt", "ai", name="gpt-4.1", position=5),
    ),
)


def mentioned(text: str) -> list[str]:
    return list(find_mentions(text, TEAM).members)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@Bob hello", ["bob"]),
        ("hello @bob", ["bob"]),
        ("＠Bob hello", ["bob"]),
        ("@Bob, @ann: look", ["bob", "ann"]),
        ("@bobby look", ["bobby"]),
        ("@bob's draft", ["bob"]),
        ("(@bob) look", ["bob"]),
        ("@Bob.", ["bob"]),
        ("@Bob帮我看", ["bob"]),
        ("@小明帮我看", ["xm"]),
        ("请@小明看一下", ["xm"]),
        ("@Zhang San look", ["zs"]),
        ("@zhang_san look", ["zs"]),
        ("@gpt-4.1 look", ["gpt"]),
        ("@gpt-4.1. Look", ["gpt"]),
        ("@bob @bob", ["bob", "bob"]),
        ("\n  @bob", ["bob"]),
    ],
)
def test_a_mention_names_the_member_with_the_longest_name(text: str, expected: list[str]) -> None:
    """`@name` counts anywhere; it ends at a space, punctuation, a CJK character or the end."""
    assert mentioned(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "mail ann@bob",
        "bob@example.org",
        "@@bob",
        "@bobx",
        "@bob-smith",
        "@bob.py",
        "@bob/app.py",
        "`@bob`",
        "``@bob``",
        "```\n@bob\n```",
        "> @bob said so",
        "@",
        "@ bob",
        "@property",
    ],
)
def test_what_is_an_address_a_file_code_or_a_quote_mentions_nobody(text: str) -> None:
    """Addresses, files, decorators, code and quoted lines are text."""
    assert mentioned(text) == []


def test_only_so_many_at_signs_are_looked_at() -> None:
    """A hostile text costs no more than a long one."""
    assert mentioned("(@x" * limits.MENTIONS + " @bob") == []
    assert mentioned("x" + "`" * 100_000 + " @bob") == ["bob"]


@pytest.mark.parametrize(
    ("text", "stranger", "nearest"),
    [
        ("@bo hello", "bo", "Bob"),
        ("@qqq hello", "qqq", ""),
        ("hello @bobb", "", ""),
        ("@src/app.py hello", "", ""),
        ("@setup.py", "", ""),
    ],
)
def test_a_first_word_that_mentions_nobody_is_noticed(text: str, stranger: str, nearest: str) -> None:
    """Only the first word, and not if it is a file; the nearest name is suggested."""
    found = find_mentions(text, TEAM)
    assert (found.stranger, found.nearest) == (stranger, nearest)


def acting(scenario: Scenario) -> list[str]:
    return [turn.member for turn in scenario.state.running]


def test_a_mention_of_a_human_routes_like_a_marker_and_stays_in_the_text() -> None:
    """The first one mentioned gets the floor, the others wait; people see to whom it was said."""
    scenario = given(make_chat_team()).says("@Bob hello, then @carol")
    posted = only(scenario.new, MessagePosted)[0]
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])
    assert (posted.text, posted.to) == ("@Bob hello, then @carol", ("bob", "carol"))


def test_a_marker_that_names_anybody_beats_mentions() -> None:
    """With [NEXT:] in the message a mention is text."""
    scenario = given(make_chat_team()).says("[NEXT: carol] ask @Bob")
    assert (acting(scenario), scenario.queue) == (["carol"], [])


@pytest.mark.parametrize(("setting", "expected"), [("humans", []), ("everyone", ["carol"]), ("off", [])])
def test_mentions_of_an_ai_route_only_if_the_team_says_so(setting: str, expected: list[str]) -> None:
    """By default only humans route with `@name`."""
    chat = ChatSettings(mentions=setting)  # type: ignore[arg-type]
    scenario = given(make_chat_team(chat=chat)).says("[NEXT: bob] hi").replies("@Carol did this")
    assert acting(scenario) == expected


def test_mentions_can_be_switched_off_for_humans_too() -> None:
    """`mentions: off` leaves markers only."""
    scenario = given(make_chat_team(chat=ChatSettings(mentions="off"))).says("@Bob hello")
    assert acting(scenario) == []


def test_a_message_to_nobody_goes_to_the_default_member() -> None:
    """`chat.default` is given what a human says to nobody while the queue is empty."""
    scenario = given(make_chat_team(chat=ChatSettings(default="Carol"))).says("hello")
    assert acting(scenario) == ["carol"]
    assert only(scenario.new, MessagePosted)[0].to == ("carol",)
    assert not only(scenario.new, NoticePosted)


def test_the_default_member_does_not_go_before_the_queue() -> None:
    """A queue that is not empty goes on, as without a default."""
    team = make_chat_team(chat=ChatSettings(default="carol"))
    scenario = given(team).says("[NEXT: bob, dave] hi").fails().says("go on")
    assert (acting(scenario), scenario.queue) == (["dave"], [])


def test_the_default_member_is_not_for_ais() -> None:
    """What an AI says to nobody still goes to the first human."""
    scenario = given(make_chat_team(chat=ChatSettings(default="carol"))).says("[NEXT: bob] hi").replies("done")
    assert (acting(scenario), scenario.state.waiting_for) == ([], "alice")


def test_a_message_said_while_an_ai_acts_waits_for_the_default_member() -> None:
    """Nothing that a human says is left without an answer."""
    scenario = given(make_chat_team(chat=ChatSettings(default="carol"))).says("[NEXT: bob] hi").says("and this?")
    assert (acting(scenario), scenario.queue) == (["bob"], ["carol"])


def test_without_a_default_people_are_told_that_nobody_was_addressed() -> None:
    """The notice names every AI that it can be given to."""
    scenario = given(make_chat_team()).says("hello")
    assert scenario.notices == ["◦ Nobody was addressed. Give it to: Bob · Carol · Dave (type @name)"]
    assert scenario.state.waiting_for == "alice"


def test_what_was_said_to_nobody_can_be_given_to_a_member() -> None:
    """`to` names members by id, as [NEXT:] does; the text may be empty."""
    scenario = given(make_chat_team()).says("hello").when(Post(text="", to=("carol",)))
    newest = turn_input("s", scenario.state, scenario.state.running[0]).message
    assert acting(scenario) == ["carol"]
    assert newest is not None
    assert newest.text == "hello"


def test_a_first_word_that_mentions_nobody_is_told() -> None:
    """The text is a message all the same."""
    assert given(make_chat_team()).says("@bobb hi").notices[0] == "◦ Nobody here is called @bobb. Did you mean @Bob?"
    assert given(make_chat_team()).says("@xyz hi").notices[0].endswith("Members: Alice, Bob, Carol, Dave")


@pytest.mark.parametrize(
    "text", ["【NEXT：Bob】hi", "［NEXT:Bob］ hi", "[NEXT Bob] hi", "[NEXT :Bob] hi", "[ next: Bob] hi", "【NEXT Bob】"]
)
def test_a_look_alike_marker_stays_text_and_is_told(text: str) -> None:
    """The notice shows the right form; nobody is routed."""
    scenario = given(make_chat_team()).says(text)
    assert "◦ This looks like a marker but is none; the right form is [NEXT: Bob]" in scenario.notices
    assert only(scenario.new, MessagePosted)[0].text == text
    assert acting(scenario) == []


def test_a_look_alike_of_an_ai_is_told_too() -> None:
    """Models write other brackets more often than people."""
    scenario = given(make_chat_team()).says("[NEXT: bob] hi").replies("好的【NEXT：carol】")
    assert scenario.notices == ["◦ This looks like a marker but is none; the right form is [NEXT: carol]"]


@pytest.mark.parametrize(
    "text", ["[NEXT: bob]", "[NEXTS: bob]", "[NEXT]", "[NEXT steps]", "```\n【NEXT：Bob】\n```", "> [NEXT Bob]", "x"]
)
def test_other_text_is_no_look_alike(text: str) -> None:
    """A right marker, code, a quote and words that are no names are not told."""
    assert find_look_alike(text, {"Bob"}.__contains__) == ""


def test_self_is_the_speaker() -> None:
    """`[NEXT: self]` gives an AI another turn, and is resolved like any name."""
    scenario = given(make_chat_team()).says("[NEXT: bob] hi").replies("more to say [NEXT: Self]")
    assert (acting(scenario), scenario.notices) == (["bob"], [])
    assert only(scenario.facts, MessagePosted)[-1].to == ("bob",)


def test_a_member_called_self_is_meant_by_self() -> None:
    """The name of a member comes first."""
    scenario = given(make_chat_team(ais=("bob", "self"))).says("[NEXT: bob] hi").replies("[NEXT: self] you")
    assert acting(scenario) == ["self"]


def test_every_message_is_told_with_its_addressees() -> None:
    """`Alice → Bob, Carol: …`."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol] hi").replies("fine")
    teller = Teller()
    lines = [line for fact in scenario.facts for line in teller.lines(fact)]
    assert "Alice → Bob, Carol:  hi" in lines or "Alice → Bob, Carol: hi" in lines
    assert "Bob: fine" in lines


def test_the_queue_is_told_before_the_first_turn_starts() -> None:
    """Members that wait are shown when they are enqueued, then with the one who acts; one alone is shown acting."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol] hi")
    teller = Teller()
    lines = [line for fact in scenario.facts for line in teller.lines(fact)]
    assert lines[-2:] == ["📋 Queue: Bob → Carol", "📋 Queue: [Bob ⏳] → Carol"]
    lines = [line for fact in scenario.replies("done").new for line in teller.lines(fact)]
    assert lines == ["Bob: done", "📋 Queue: [Carol ⏳]"]


def test_a_member_is_told_who_waits_already() -> None:
    """The input of a turn has the queue behind it."""
    scenario = given(make_chat_team()).says("[NEXT: bob, carol, dave] hi")
    turn = turn_input("s", scenario.state, scenario.state.running[0])
    assert turn.waiting == ("carol", "dave")
    assert only(scenario.new, TurnStarted)[0].member == "bob"
