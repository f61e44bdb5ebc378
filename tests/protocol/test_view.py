"""What screens show is the fold of the frames, and agrees with what the core knows.

`python -m tests.protocol.test_view` from the root of the repository writes the expected view anew; look at the change.
"""

import json
from functools import reduce as fold
from typing import Any, get_args

import msgspec
from hypothesis import given, settings

from moot.core.codec import Head, frame, stamp
from moot.core.commands import Command
from moot.core.events import Fact
from moot.core.evolve import evolve
from moot.core.machines.connection import State as Link
from moot.core.queue_line import queue_line
from moot.core.state import State
from moot.core.team import Team
from moot.protocol import view as views
from moot.protocol import view_parts
from moot.protocol.happenings import Moved
from moot.protocol.view import View, connection_frame, reduce
from tests.core.test_properties import histories, play, teams
from tests.protocol.client_cases import DATA, GOLDEN

EXPECTED = DATA / "protocol" / "chat-v1.view.json"
FRAMES: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN]
SAYS_NOTHING = {"session.pause_requested"}  # but to the machine of a pause


def view_of(frames: list[dict[str, Any]]) -> View:
    return fold(reduce, frames, View())


def delta(turn_id: str, text: str, session_id: str = "golden-chat-v1") -> dict[str, Any]:
    return {"event": "turn.delta", "session_id": session_id, "metadata": {"turn_id": turn_id, "text": text}}


def thinking(turn_id: str, text: str) -> dict[str, Any]:
    return {**delta(turn_id, text), "event": "turn.thinking"}


def with_a_running_turn() -> View:
    for count in range(1, len(FRAMES)):
        view = view_of(FRAMES[:count])
        if view.running:
            return view
    raise AssertionError("no turn runs in the golden log")


def test_the_golden_log_folds_to_the_expected_view() -> None:
    """UX: web page and terminal show the same state for the same recorded session."""
    assert view_of(FRAMES) == msgspec.json.decode(EXPECTED.read_bytes(), type=View)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(teams, histories)
def test_the_view_agrees_with_the_core(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """Spec 1: one truth; after every event the screen shows the core's queue, status, turns, hops and questions."""
    facts, _ = play(team, [*parts[0], *parts[1]])
    state: State | None = None
    view = View()
    for event in stamp(team, "s_00000001", Head(), facts, "2026-01-01T00:00:00.000Z"):
        state = evolve(state, event.fact)
        view = reduce(view, json.loads(frame(event, state.language)))
        assert (view.status, view.waiting_for, view.pause_reason) == (
            state.status,
            state.waiting_for,
            state.pause_reason,
        )
        assert (view.executing, list(view.pending)) == (state.executing, [entry.member for entry in state.queue])
        assert [turn.turn_id for turn in view.running] == [turn.turn_id for turn in state.running]
        assert [each.step_id for each in view.questions] == list(state.open_steps)
        assert (view.hops, view.language, view.title) == (state.hops, state.language, state.title)
        assert view.team_task == state.team_task
        for viewer in (None, team.first_human.id):
            assert view.queue_line(viewer) == queue_line(state, viewer)


def test_every_event_is_shown_or_known_to_say_nothing() -> None:
    """House style: a table held to the union; a new fact must be thought about."""
    assert set(views.LOGGED) | SAYS_NOTHING == {kind.event for kind in get_args(Fact)}


def test_a_frame_counts_once() -> None:
    """Spec 5: no double at the seam; what was folded before changes nothing."""
    once = view_of(FRAMES)
    assert view_of([*FRAMES[:40], *FRAMES[10:]]) == once
    assert view_of([frame for frame in FRAMES for _ in range(2)]) == once


def test_what_a_newer_server_says_is_no_harm() -> None:
    """E37: an unknown event moves the seq and nothing else; an unlogged one nothing at all."""
    view = view_of(FRAMES[:5])
    newer = {**FRAMES[5], "event": "plan.dreamt", "metadata": {"dream": 1}}
    assert reduce(view, newer) == msgspec.structs.replace(view, seq=6, at=newer["timestamp"])
    assert reduce(view, {"event": "system.dreamt"}) == view


def test_streaming_text_grows_with_its_turn_and_goes_with_it() -> None:
    """UX: streaming text in place; the message that follows has all of it, a late piece is nothing."""
    view = with_a_running_turn()
    turn_id = view.running[0].turn_id
    said = fold(
        reduce, [delta(turn_id, "Hel"), delta(turn_id, "lo"), delta("t99", "x"), delta(turn_id, "x", "s_2")], view
    )
    assert said.running[0].streamed == "Hello"
    ended = fold(reduce, FRAMES[view.seq :], said)
    assert ended == view_of(FRAMES)
    assert reduce(ended, delta(turn_id, "late")) == ended


def test_a_thought_is_shown_until_something_follows_it() -> None:
    """Spec 5: thoughts are no part of the text; the step that has the whole of one, or the next word, ends it."""
    view = with_a_running_turn()
    turn_id = view.running[0].turn_id
    thought = fold(reduce, [thinking(turn_id, "so "), thinking(turn_id, "what?")], view)
    assert (thought.running[0].thinking, thought.running[0].streamed) == ("so what?", "")
    said = {"turn_id": turn_id, "thought": "so what?"}
    step = {**FRAMES[-1], "event": "turn.step", "seq": view.seq + 1, "metadata": said}
    stepped = reduce(thought, step)
    assert (stepped.running[0].thinking, len(stepped.running[0].steps)) == ("", 1)
    wrote = reduce(thought, delta(turn_id, "Nothing."))
    assert (wrote.running[0].thinking, wrote.running[0].streamed) == ("", "Nothing.")


def test_what_a_failed_turn_cost_is_counted() -> None:
    """Issue 6, budgets: tokens and cost of turns that failed are shown like those of the others."""
    usage = {"input_tokens": 60, "output_tokens": 50, "cost_usd": 0.25}
    failed = {"turn_id": "t1", "member": "bob", "error_type": "agent", "message": "no", "usage": usage}
    before = view_of(FRAMES)
    after = reduce(before, {**FRAMES[-1], "event": "turn.failed", "seq": before.seq + 1, "metadata": failed})
    assert after.counters.failed_turns == before.counters.failed_turns + 1
    assert after.counters.tokens == before.counters.tokens + 110


def test_everything_that_grows_is_bounded() -> None:
    """Reliability: bounded; the newest are kept, counters count all."""
    view = view_of(FRAMES[:2])
    posted = FRAMES[1]
    many = fold(reduce, [{**posted, "seq": seq} for seq in range(3, 1_003)], view)
    assert len(many.messages) == view_parts.MESSAGES
    assert (many.messages[-1].seq, many.counters.messages) == (1_002, 1_001)
    assert len(many.timeline) == view_parts.TIMELINE
    running = with_a_running_turn()
    streamed = reduce(running, delta(running.running[0].turn_id, "x" * 2 * view_parts.STREAMED_CHARS))
    assert len(streamed.running[0].streamed) == view_parts.STREAMED_CHARS
    thought = reduce(running, thinking(running.running[0].turn_id, "x" * 2 * view_parts.THINKING_CHARS))
    assert len(thought.running[0].thinking) == view_parts.THINKING_CHARS


def test_a_reset_empties_the_view_and_says_why() -> None:
    """Spec 5: resumed false = the client drops what it had; UX: the reason is shown. Other sessions are left alone."""
    view = view_of(FRAMES[:9])
    told = {"event": "system.connected", "metadata": {"resumed": False, "reason": "ahead", "session_id": "s_other"}}
    assert reduce(view, told) == view
    told["metadata"] = {"resumed": True, "session_id": view.session_id}
    assert reduce(view, told) == view
    told["metadata"] = {"resumed": False, "reason": "ahead", "session_id": view.session_id}
    emptied = reduce(view, told)
    assert (emptied.seq, emptied.messages, emptied.connection.reset) == (0, (), "ahead")


def test_the_link_is_part_of_the_view() -> None:
    """UX: connection honesty; attempt and waiting time are there to be shown, and go when the link is back."""
    view = view_of(FRAMES[:9])
    lost = reduce(view, connection_frame(Moved(state=Link.RECONNECTING, attempt=3, retry_in_s=4.0, reason="x")))
    assert (lost.connection.state, lost.connection.attempt, lost.connection.retry_in_s) == ("RECONNECTING", 3, 4.0)
    back = reduce(lost, connection_frame(Moved(state=Link.CONNECTED)))
    assert (back.connection.state, back.connection.attempt, back.messages) == ("CONNECTED", 0, view.messages)


def test_a_message_of_markers_only_shows_what_was_written() -> None:
    """Chat: a message of markers only is accepted; a screen that showed nothing would hide it."""
    posted = {**FRAMES[1], "metadata": {"member": "alice", "text": "  ", "raw": "[NEXT: bob]"}}
    line = reduce(view_of(FRAMES[:1]), posted).messages[-1]
    assert (line.text, line.name, line.author) == ("[NEXT: bob]", "爱丽丝", "moot-orchestrator.user")


if __name__ == "__main__":
    EXPECTED.write_bytes(msgspec.json.format(msgspec.json.encode(view_of(FRAMES))) + b"\n")
