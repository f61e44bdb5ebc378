"""Feeds: shared by all who follow a session, there for as long as somebody does."""

import asyncio

from moot.core.codec import Head, stamp
from moot.core.errors import NotFound
from moot.core.session.events import NoticePosted, SessionActivated
from moot.gateway.feeds import WOKEN_AT_ONCE, Feed, Feeds, Frame, as_frames, pack
from moot.runtime.stores.memory import MemoryLog
from tests.contract.logs import append
from tests.gateway.server import TEAM, run

AT = "2026-01-01T00:00:00.000Z"


class Ear:
    def __init__(self) -> None:
        self.woken = 0

    def wake(self) -> None:
        self.woken += 1

    def show(self, text: str) -> None:
        pass


def make_frames(count: int) -> list[Frame]:
    facts = [NoticePosted(code="agent_error", who="bob", detail=str(n)) for n in range(count)]
    return as_frames(stamp(TEAM.team(), "s_feeds", Head(), facts, AT))


@run
async def test_one_leaves_as_another_comes() -> None:
    """A feed that nobody follows ends; one that somebody follows anew in the same moment is another and lives on."""
    log = MemoryLog()
    await append(log, "s")
    async with asyncio.TaskGroup() as tasks:
        feeds = Feeds(log, tasks.create_task, 10, lambda: AT)
        one, two, three = Ear(), Ear(), Ear()
        old = await feeds.join("s", one)
        await asyncio.sleep(0)
        feeds.leave(old, one)
        new = await feeds.join("s", two)
        assert new is not old
        for _ in range(5):
            await asyncio.sleep(0)
        assert isinstance(old.ended, NotFound)
        assert new.ended is None
        assert await feeds.join("s", three) is new
        await append(log, "s")
        for _ in range(5):
            await asyncio.sleep(0)
        assert (two.woken, three.woken) == (1, 1)
        assert new.head == (await log.head("s")).seq
        feeds.close()


@run
async def test_a_session_that_is_removed() -> None:
    """Who follows it is woken and finds out why; a feed is made anew when somebody comes again."""
    log = MemoryLog()
    await append(log, "s")
    async with asyncio.TaskGroup() as tasks:
        feeds = Feeds(log, tasks.create_task, 10, lambda: AT)
        ear = Ear()
        feed = await feeds.join("s", ear)
        await asyncio.sleep(0)
        await log.delete("s")
        for _ in range(5):
            await asyncio.sleep(0)
        assert isinstance(feed.ended, NotFound)
        assert ear.woken == 1
        assert feeds.followers("s") == ()


@run
async def test_many_followers_are_woken_some_at_a_time() -> None:
    """What the first followers write is sent before the last ones are woken; all are woken, in order, for each call."""
    feed = Feed("s", 0, 10, lambda: AT)
    woken: list[int] = []

    class Numbered(Ear):
        def wake(self) -> None:
            super().wake()
            woken.append(numbers[self])

    numbers = {Numbered(): number for number in range(2 * WOKEN_AT_ONCE + 1)}
    feed.followers.update(dict.fromkeys(numbers))
    feed.wake()
    assert woken == list(range(WOKEN_AT_ONCE))
    await asyncio.sleep(0)
    assert len(woken) == 2 * WOKEN_AT_ONCE
    await asyncio.sleep(0)
    assert woken == list(range(2 * WOKEN_AT_ONCE + 1))
    feed.wake()
    feed.wake()
    for _ in range(3):
        await asyncio.sleep(0)
    assert {ear.woken for ear in numbers} == {3}


def test_the_window() -> None:
    """A feed has its newest frames; who is further behind is sent to the log."""
    feed = Feed("s_feeds", 0, 100, lambda: AT)
    frames = make_frames(2_000)
    for at in range(0, 2_000, 10):
        feed.add([frame.event for frame in frames[at : at + 10]])
        oldest = max(at + 10 - 100, 0)
        for cursor in {oldest, (oldest + at + 10) // 2, at + 9}:
            found = feed.after(cursor, 7)
            assert found is not None
            assert [each.event.seq for each in found] == list(range(cursor + 1, min(cursor + 7, at + 10) + 1))
            assert feed.bytes_after(cursor) == sum(len(frame.event.data) for frame in frames[cursor : at + 10])
    assert feed.after(1_000, 7) is None
    assert feed.after(2_000, 7) == []
    assert feed.bytes_after(2_000) == 0


def test_what_goes_over_the_wire() -> None:
    """RFC 6455 §5.2: each frame a text message, or all of them in one; lengths of 7, 16 and 64 bits."""
    [one, two] = make_frames(2)
    single = pack([one, two], "en", is_batch=False)
    assert single.startswith(b"\x81\x7e" + len(one.payload("en")).to_bytes(2, "big") + one.payload("en") + b"\x81\x7e")
    batch = pack([one, two], "zh", is_batch=True)
    body = b"[%b,%b]" % (one.payload("zh"), two.payload("zh"))
    assert batch == b"\x81\x7e" + len(body).to_bytes(2, "big") + body
    assert pack([one], "en", is_batch=True) == pack([one], "en", is_batch=False)
    many = pack(make_frames(500), "en", is_batch=True)
    assert many[:2] == b"\x81\x7f"
    assert int.from_bytes(many[2:10], "big") == len(many) - 10
    assert one.payload("en") is one.payload("en")
    [quiet] = as_frames(stamp(TEAM.team(), "s_feeds", Head(), [SessionActivated()], AT))
    assert quiet.payload("en") == quiet.payload("zh")
