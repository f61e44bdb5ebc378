"""What a client keeps of a session is bounded, and who waits is woken."""

import asyncio

import pytest

from moot.client.link_errors import RemoteRefused
from moot.client.tape import Tape
from moot.core.errors import MootError, NotFound
from moot.protocol.frames import ViewChanged
from moot.protocol.happenings import Logged
from moot.protocol.merge import diff, to_document
from tests.client.deadline import run
from tests.client.fake_server import EVENTS, view_at


def logged(seq: int) -> Logged:
    event = EVENTS[seq - 1]
    return Logged(session_id=event.session_id, seq=seq, hash=event.hash, data=event.data, frame=event.data)


def shown(seq: int, *, whole: bool = True) -> ViewChanged:
    document = to_document(view_at(seq))
    patch = document if whole else diff(to_document(view_at(seq - 1)), document)
    return ViewChanged(seq=seq, whole=whole, view=patch)


def test_a_tape_keeps_the_view_and_the_newest_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded; the view is that of all events, the window has the last ones."""
    monkeypatch.setattr("moot.client.tape.WINDOW_EVENTS", 3)
    tape = Tape()
    for seq in range(1, 11):
        tape.add(logged(seq))
        tape.change_view(shown(seq, whole=seq == 1))
    assert (tape.view, tape.view_seq) == (view_at(10), 10)
    assert (tape.head, tape.first_seq) == (EVENTS[9].head, 8)
    assert [entry.logged.seq for entry in tape.after(8)] == [9, 10]
    assert [entry.event for entry in tape.after(0)] == EVENTS[7:10]
    assert tape.after(10) == tape.after(11) == []


def test_a_tape_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few long messages weigh as much as many short ones; the last one stays, however long."""
    monkeypatch.setattr("moot.client.tape.WINDOW_BYTES", 1)
    tape = Tape()
    for seq in (1, 2, 3):
        tape.add(logged(seq))
    assert tape.first_seq == 3


def test_an_event_of_a_newer_version_is_counted_and_left_out() -> None:
    """Names are never reused; one that is not known here changes nothing here."""
    tape = Tape(view_at(1), EVENTS[0].head)
    newer = EVENTS[1].data.replace(b"message.posted", b"message.dreamt")
    tape.add(Logged(session_id="s", seq=2, hash="x", data=newer, frame=newer))
    assert (tape.head.seq, tape.view, tape.after(1)[0].event) == (2, view_at(1), None)


def test_who_waits_is_woken_or_told_why_not() -> None:
    """Trio's rule: every wait ends; here by an event or by the error that ended the tape."""

    async def test() -> None:
        tape = Tape()
        reaching = asyncio.create_task(tape.reach(2))
        tape.add(logged(1))
        await asyncio.sleep(0)
        assert not reaching.done()
        tape.add(logged(2))
        await asyncio.sleep(0)
        assert not reaching.done()  # the view does not include it yet
        tape.change_view(shown(2))
        await reaching
        waiting = asyncio.create_task(tape.change())
        await asyncio.sleep(0)
        tape.end(NotFound("gone"))
        tape.end(MootError("the first reason stays"))
        await waiting
        with pytest.raises(NotFound):
            await tape.reach(3)
        with pytest.raises(NotFound):
            await tape.change()

    run(test())


def test_a_view_of_another_version_ends_the_tape() -> None:
    """What cannot be read is not guessed at: whoever uses the session is told to upgrade."""
    tape = Tape(view_at(1), EVENTS[0].head)
    tape.change_view(ViewChanged(seq=2, whole=True, view={"status": 7}))
    with pytest.raises(RemoteRefused, match="another version"):
        _ = tape.view
