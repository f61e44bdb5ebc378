"""Who takes part."""

import pytest

from moot.core.decide import check_team, create
from moot.core.errors import Refused
from moot.core.session.commands import CreateSession
from moot.core.session.events import SessionCreated
from moot.core.session.team import Kind, Language, Member, Team, find_problems, member
from tests.core.teams import make_chat_team


def test_name_display_name_and_order_have_defaults() -> None:
    """Name = id, display_name = name, order = position."""
    assert member("bob", "ai", position=3) == Member(id="bob", kind=Kind.AI, name="bob", display_name="bob", order=3)
    assert member("bob", "ai", name="Bob").display_name == "Bob"
    assert member("bob", "ai", position=3, order=0).order == 0


def test_humans_stand_by_order() -> None:
    """By `order`, ties as written."""
    team = Team(
        name="t",
        members=(
            member("c", "human", order=2),
            member("bot", "ai", order=0),
            member("a", "human", order=1),
            member("b", "human", order=2),
        ),
    )
    assert [human.id for human in team.humans] == ["a", "c", "b"]
    assert team.first_human.id == "a"


def test_a_good_team_is_accepted_as_it_is() -> None:
    """Two members, one of them human, are enough."""
    team = make_chat_team(ais=("bob",))
    assert check_team(team) is team


def test_one_human_alone_and_two_humans() -> None:
    """Two humans make a team, one does not."""
    with pytest.raises(ValueError, match=r"^a team needs at least 2 members, this one has 1$"):
        check_team(Team(name="t", members=(member("a", "human"),)))
    assert list(find_problems([member("a", "human"), member("b", "human")])) == []


@pytest.mark.parametrize(
    ("language", "text"), [("zh", "团队至少需要 1 个 Human 成员"), ("en", "a team needs at least 1 human member")]
)
def test_the_sentence_for_a_team_without_a_human(language: Language, text: str) -> None:
    """Word for word."""
    with pytest.raises(ValueError, match=f"^{text}$"):
        check_team(Team(name="t", language=language, members=(member("a", "ai"), member("b", "ai"))))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (member("bob", "ai"), member("bob", "human")),
        (member("bob", "ai"), member("BOB", "human")),
        (member("dev-bot", "ai"), member("dev_bot", "human")),
        (member("a", "ai", name="Bob"), member("b", "human", name="bob.")),
        (member("a", "ai", display_name="Zhang San"), member("b", "human", name="zhangsan")),
        (member("a", "ai", display_name="b"), member("b", "human")),
        (member("ｂｏｂ", "ai"), member("bob", "human")),
    ],
)
def test_names_that_are_equal_after_normalising_are_refused(first: Member, second: Member) -> None:
    """No two members share an id, name or display name; both are named, with the place of the second."""
    problems = list(find_problems([first, second]))
    assert problems
    assert all(problem.path[:2] == ("members", 1) for problem in problems)
    assert problems[0].code == "name_taken"
    assert (problems[0].params["owner"], problems[0].params["who"]) == (first.id, second.id)


def test_a_member_may_carry_one_name_three_times() -> None:
    """Id, name and display name of one member may be the same."""
    assert list(find_problems([member("bob", "ai", name="Bob", display_name="BOB"), member("a", "human")])) == []


def test_a_name_without_a_letter_cannot_be_addressed() -> None:
    """What normalises to nothing names nobody."""
    problems = list(find_problems([member("-_-", "ai"), member("a", "human")]))
    assert problems[0].path == ("members", 0, "id")


def test_all_problems_are_listed_at_once() -> None:
    """No second run to see the second problem."""
    with pytest.raises(ValueError, match=r"1 human member; .*'X' is the same as 'x'.*'-' has no letter"):
        check_team(Team(name="t", members=(member("x", "ai"), member("X", "ai"), member("-", "ai"))))


def test_a_session_begins_with_its_team() -> None:
    """Seq 1 tells team, flow, members, language and title."""
    team = make_chat_team(language="zh")
    created = create(CreateSession(team=team, title="\x1b[1mplan\x00"))
    assert created.facts == [
        SessionCreated(team="trio", flow="chat", members=team.members, language="zh", title="plan")
    ]
    assert created.state.team == team


def test_a_session_of_a_bad_team_is_not_made() -> None:
    """Checked before the first event, so that nothing later can fail on it."""
    with pytest.raises(ValueError, match="at least 1 human"):
        create(CreateSession(team=make_chat_team(humans=())))


def test_a_supervisor_team_without_a_supervisor_is_refused() -> None:
    """A typed refusal, not a session that cannot move."""
    team = make_chat_team()
    with pytest.raises(Refused, match="nobody_plays"):
        create(CreateSession(team=Team(name="t", flow="supervisor", members=team.members)))
