"""The pure functions of chat: decide, resolve_addressees, get_fallback_target; and the queue behind them."""

from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core import limits
from moot.core.flows.chat.chat_slice import Entry
from moot.core.flows.chat.routing import decide, enqueue, get_fallback_target, resolve_addressees, take_out
from moot.core.intake.intent import AddressingType
from moot.core.intake.markers import DROP_ALL, Priority, Target
from moot.core.session.events import MessagePosted, NoticePosted
from moot.core.session.team import Team, member
from moot.testing import scenario as scenarios
from tests.core.teams import make_chat_team

TEAM = make_chat_team(("alice", "adam"))
P1, P2, P3 = Priority.P1, Priority.P2, Priority.P3


def targets(*names: str) -> list[Target]:
    return [Target(name) for name in names]


def line(*members: str) -> tuple[Entry, ...]:
    """`bob bob!P3` style: a queue in a line."""
    pairs = [each.partition("!") for each in members]
    return tuple(Entry(name, Priority(priority or "P2")) for name, _, priority in pairs)


def ids(entries: tuple[Entry, ...]) -> list[str]:
    return [entry.member for entry in entries]


# resolve_addressees


def test_resolving_separates_and_keeps_order_and_duplicates() -> None:
    """{resolved, unresolved}, in order, duplicates kept."""
    resolution = resolve_addressees(["Bob", "zoe", "carol", "BOB", "yan", "zoe"], TEAM)
    assert [found.id for found in resolution.resolved] == ["bob", "carol", "bob"]
    assert resolution.unresolved == ("zoe", "yan", "zoe")


def test_resolving_nothing_gives_nothing() -> None:
    """No names, no members."""
    resolution = resolve_addressees([], TEAM)
    assert (resolution.resolved, resolution.unresolved) == ((), ())


# get_fallback_target


def test_the_fallback_is_the_first_human_by_order() -> None:
    """By `order`, not by position; AIs never."""
    team = Team(
        name="t",
        members=(
            member("bob", "ai", order=0),
            member("late", "human", order=9),
            member("early", "human", order=3),
        ),
    )
    assert get_fallback_target(team).id == "early"


def test_humans_of_equal_order_stand_as_they_are_written() -> None:
    """A tie is settled by the position in the team, so the answer is always the same."""
    team = Team(
        name="t", members=(member("zoe", "human", order=1), member("adam", "human", order=1), member("bob", "ai"))
    )
    assert get_fallback_target(team).id == "zoe"


# decide


@pytest.mark.parametrize(
    ("names", "queue", "action", "who", "updates"),
    [
        (("bob",), (), AddressingType.SEND_TO_AI, "bob", ["bob"]),
        (("adam",), (), AddressingType.WAIT_FOR_HUMAN, "adam", ["adam"]),
        (("bob", "adam"), (), AddressingType.SEND_TO_AI, "bob", ["bob", "adam"]),
        (("adam", "bob"), (), AddressingType.WAIT_FOR_HUMAN, "adam", ["adam", "bob"]),
        (("zoe", "bob"), (), AddressingType.SEND_TO_AI, "bob", ["bob"]),
        ((), (), AddressingType.WAIT_FOR_HUMAN, "alice", []),
        ((), ("bob",), AddressingType.CONTINUE_QUEUE, None, []),
        (("carol",), ("bob",), AddressingType.CONTINUE_QUEUE, None, ["carol"]),
        (("adam",), ("bob",), AddressingType.CONTINUE_QUEUE, None, ["adam"]),
        (("bob", "bob", "carol"), (), AddressingType.SEND_TO_AI, "bob", ["bob", "carol"]),
        (("carol", "dave"), ("bob", "carol"), AddressingType.CONTINUE_QUEUE, None, ["dave"]),
    ],
)
def test_decide_says_what_happens_next(
    names: tuple[str, ...], queue: tuple[str, ...], action: AddressingType, who: str | None, updates: list[str]
) -> None:
    """`queue_updates` lists all members to append, the action describes what happens then."""
    decision = decide(targets(*names), line(*queue), TEAM)
    assert (decision.action.type, decision.action.member) == (action, who)
    assert ids(decision.queue_updates) == updates
    assert ids(decision.queue) == [*queue, *updates]


def test_decide_tells_who_is_available_when_nobody_resolves() -> None:
    """`error_unresolved` carries the names and the display names of all members; the queue stays."""
    decision = decide(targets("zoe", "yan"), line("bob"), TEAM)
    assert decision.action.type is AddressingType.ERROR_UNRESOLVED
    assert decision.action.addressees == ("zoe", "yan")
    assert decision.action.available_members == ("Alice", "Adam", "Bob", "Carol", "Dave")
    assert (decision.queue_updates, decision.queue) == ((), line("bob"))


def test_at_most_ten_targets_count() -> None:
    """The first ten names count, the rest are skipped by name."""
    names = ["bob", "carol"] * 5 + ["dave", "adam"]
    decision = decide(targets(*names), (), TEAM)
    assert ids(decision.queue_updates) == names[:10]
    assert decision.skipped == ("dave", "adam")


def test_a_full_queue_takes_nobody() -> None:
    """A queue never holds more than its limit; who does not fit is skipped by name."""
    full = line(*(["bob", "carol"] * (limits.QUEUE_ENTRIES // 2)))
    decision = decide(targets("dave"), full[:-1], TEAM)
    assert len(decision.queue) == limits.QUEUE_ENTRIES
    decision = decide(targets("dave", "adam"), full[:-1], TEAM)
    assert (len(decision.queue), decision.skipped) == (limits.QUEUE_ENTRIES, ("adam",))
    assert decide(targets("dave"), full, TEAM).queue == full


# enqueue: priorities


@pytest.mark.parametrize(
    ("queue", "new", "expected"),
    [
        ((), ("bob!P1",), ["bob"]),
        (("bob", "carol"), ("dave!P1",), ["dave", "bob", "carol"]),
        (("bob", "carol"), ("dave!P1", "adam!P1"), ["dave", "adam", "bob", "carol"]),
        (("bob", "carol!P3"), ("dave",), ["bob", "dave", "carol"]),
        (("bob!P3", "carol!P3"), ("dave",), ["dave", "bob", "carol"]),
        (("bob", "carol!P3"), ("dave!P3",), ["bob", "carol", "dave"]),
        (("bob",), ("carol!P3", "dave", "adam!P1"), ["adam", "bob", "dave", "carol"]),
        ((), ("bob!P3", "carol!P2", "dave!P1"), ["dave", "carol", "bob"]),
        (("bob!P1",), ("carol!P1",), ["carol", "bob"]),
    ],
)
def test_priorities_place_members(queue: tuple[str, ...], new: tuple[str, ...], expected: list[str]) -> None:
    """P1 to the front in the order named, P2 to the tail, P3 behind every P2."""
    after, added = enqueue(line(*queue), line(*new))
    assert ids(after) == expected
    assert added == line(*new)


@pytest.mark.parametrize(
    ("queue", "new", "expected"),
    [
        (("bob",), ("bob",), ["bob"]),
        (("bob",), ("bob!P1",), ["bob"]),
        (("carol", "bob"), ("bob!P3",), ["carol", "bob"]),
        (("carol", "bob"), ("bob!P1",), ["bob", "carol", "bob"]),
        (("bob",), ("bob!P1", "carol!P1"), ["bob", "carol"]),
        (("bob", "dave"), ("bob!P1", "carol!P1"), ["bob", "carol", "dave"]),
        (("bob", "carol!P3"), ("carol",), ["bob", "carol"]),
    ],
)
def test_nobody_stands_behind_himself(queue: tuple[str, ...], new: tuple[str, ...], expected: list[str]) -> None:
    """Adjacent duplicates are dropped wherever the priority places them; the named order stays."""
    assert ids(enqueue(line(*queue), line(*new))[0]) == expected


ENTRIES = st.lists(
    st.builds(Entry, st.sampled_from(["alice", "bob", "carol"]), st.sampled_from(list(Priority))), max_size=8
)


@given(ENTRIES, ENTRIES)
def test_enqueueing_never_makes_neighbours_of_one_member(first: list[Entry], second: list[Entry]) -> None:
    """However a queue came to be, no member stands next to itself, and nobody gets lost."""
    queue, added = enqueue((), first)
    after, more = enqueue(queue, second)
    assert all(left.member != right.member for left, right in pairwise(after))
    assert Counter(after) == Counter((*queue, *more))
    assert len(queue) == len(added)


@given(ENTRIES, ENTRIES)
def test_those_who_wait_keep_their_order(first: list[Entry], second: list[Entry]) -> None:
    """FIFO; newcomers never change the order of those who are in the queue already."""
    queue, _ = enqueue((), first)
    after, _ = enqueue(queue, second)
    remaining = iter(after)
    assert all(any(entry == other for other in remaining) for entry in queue)


# take_out


def test_drop_takes_members_out_wherever_they_stand() -> None:
    """`[DROP: a]` removes every entry of a and tells names that are nobody's."""
    queue, unknown = take_out(line("bob", "carol", "bob!P3", "dave"), ("BOB", "zoe"), TEAM)
    assert (ids(queue), unknown) == (["carol", "dave"], ("zoe",))


def test_drop_all_empties_the_queue() -> None:
    """`[DROP: ALL]` leaves nobody."""
    assert take_out(line("bob", "carol"), DROP_ALL, TEAM) == ((), ())


def test_drop_of_nobody_changes_nothing() -> None:
    """An empty `[DROP:]` and a member who is not queued change nothing."""
    assert take_out(line("bob"), (), TEAM) == (line("bob"), ())
    assert take_out(line("bob"), ("carol",), TEAM) == (line("bob"), ())


@pytest.mark.parametrize("marker", ["NEXT", "DROP"])
def test_ten_thousand_strangers_are_counted_not_listed(marker: str) -> None:
    """Names that nobody has are told up to a bound, each cut to the length of a name; the rest are a number."""
    names = ", ".join(["x" * 200, *(f"stranger{number}" for number in range(9_999))])
    scenario = scenarios.given(make_chat_team()).says(f"[{marker}: {names}] hi")
    sizes = [len(msgspec.json.encode(fact)) for fact in scenario.new if not isinstance(fact, MessagePosted)]
    assert max(sizes) < 5_000
    notices = [fact for fact in scenario.new if isinstance(fact, NoticePosted)]
    [notice] = [fact for fact in notices if len(fact.names) > limits.NAMES_TOLD]
    assert notice.names[0] == "x" * limits.NAME_CHARS
    assert notice.names[-1] == f"+{10_000 - limits.NAMES_TOLD}"
    assert len(notice.names) == limits.NAMES_TOLD + 1
