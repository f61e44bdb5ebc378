"""What every log keeps to (runtime/ports.py: Log)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from msgspec.structs import replace

from moot.core.codec import Event, Head
from moot.core.errors import Conflict, LogError, NotFound
from moot.runtime.ports import CommandKey, Log, Project, Receipt, Snapshot
from tests.contract.logs import SUMMARY, OpenLog, append, make_events, run, verify


@run
async def test_what_was_appended_is_read_back(open_log: OpenLog) -> None:
    """Events come back as they were, with dense seqs, and the head is the last of them."""
    async with open_log() as log:
        events = await append(log, "a", 3) + await append(log, "a", 2)
        assert await log.read("a") == events
        assert [event.seq for event in events] == [1, 2, 3, 4, 5]
        assert await log.head("a") == events[-1].head == await verify(log, "a")


@run
async def test_reading_starts_behind_after_and_ends_at_limit(open_log: OpenLog) -> None:
    """Any place between two events is a place to read from, also inside one append; behind the end is nothing."""
    async with open_log() as log:
        events = [event for count in (1, 4, 3, 1) for event in await append(log, "a", count)]
        for after in range(11):
            for limit in (1, 2, 5, 100):
                assert await log.read("a", after, limit) == events[after : after + limit]


@run
async def test_an_append_behind_another_seq_is_refused(open_log: OpenLog) -> None:
    """When the head is not the expected seq, Conflict is raised and nothing changes."""
    async with open_log() as log:
        events = await append(log, "a", 3)
        for head in (Head(), events[1].head, Head(9, "x")):
            with pytest.raises(Conflict):
                await log.append("a", head, make_events("a", head), summary=SUMMARY)
        assert await log.read("a") == events


@run
async def test_an_append_behind_another_history_is_refused(open_log: OpenLog) -> None:
    """A head of the right seq and another hash is another history, as after a restored backup: Conflict."""
    async with open_log() as log:
        events = await append(log, "a", 3)
        other = make_events("a", count=3, text="another past")[-1].head
        with pytest.raises(Conflict, match="another event 3"):
            await log.append("a", other, make_events("a", other))
        assert await log.read("a") == events


@run
async def test_an_append_that_is_refused_leaves_nothing(open_log: OpenLog) -> None:
    """All or nothing: events, receipt and summary of a refused append are not there."""
    async with open_log() as log:
        events = await append(log, "a")
        key = CommandKey("c1", "d1")
        with pytest.raises(Conflict):
            await log.append(
                "a",
                Head(4, "x"),
                make_events("a", Head(4, "x")),
                command=key,
                summary=replace(SUMMARY, title="changed"),
            )
        assert await log.find_command("a", "c1") is None
        assert (await log.sessions())[0].summary == SUMMARY
        assert await log.head("a") == events[-1].head


@run
async def test_events_that_do_not_fit_the_expected_seq_are_a_mistake(open_log: OpenLog) -> None:
    """No events, events of another place and a new session without a summary are ValueErrors."""
    async with open_log() as log:
        with pytest.raises(ValueError, match="at least one"):
            await log.append("a", Head(), [], summary=SUMMARY)
        with pytest.raises(ValueError, match="start at seq 1"):
            await log.append("a", Head(), make_events("a", Head(1, "x")), summary=SUMMARY)
        with pytest.raises(ValueError, match="needs a summary"):
            await log.append("a", Head(), make_events("a"))
        assert await log.sessions() == []


@run
async def test_a_session_begins_with_its_first_append(open_log: OpenLog) -> None:
    """Creation is one append: session, events, receipt and summary appear together."""
    async with open_log() as log:
        events = make_events("a", count=2, at="2025-01-01T00:00:01.000Z")
        await log.append("a", Head(), events, command=CommandKey("c1", "d1"), summary=SUMMARY)
        (listing,) = await log.sessions()
        assert (listing.session_id, listing.head, listing.summary) == ("a", events[-1].head, SUMMARY)
        assert listing.created_at == listing.updated_at == "2025-01-01T00:00:01.000Z"
        assert await log.find_command("a", "c1") == Receipt("d1", 2)


@run
async def test_a_command_leaves_a_receipt(open_log: OpenLog) -> None:
    """A receipt names the digest and the head after the command; command ids belong to one session."""
    async with open_log() as log:
        events = await append(log, "a")
        await append(log, "b")
        await log.append("a", events[-1].head, make_events("a", events[-1].head, 3), command=CommandKey("c1", "d1"))
        assert await log.find_command("a", "c1") == Receipt("d1", 4)
        assert await log.find_command("a", "c2") is None
        assert await log.find_command("b", "c1") is None
        assert await log.find_command("nobody", "c1") is None


@run
async def test_a_command_id_is_taken_once(open_log: OpenLog) -> None:
    """A second append with the same command id is a Conflict, and the first receipt stays."""
    async with open_log() as log:
        key = CommandKey("c1", "d1")
        events = make_events("a")
        await log.append("a", Head(), events, command=key, summary=SUMMARY)
        with pytest.raises(Conflict, match="c1"):
            await log.append("a", events[-1].head, make_events("a", events[-1].head), command=CommandKey("c1", "d2"))
        assert await log.find_command("a", "c1") == Receipt("d1", 1)
        assert await log.head("a") == events[-1].head


@run
async def test_sessions_stand_newest_first(open_log: OpenLog) -> None:
    """The session that was appended to last comes first, whatever its clock said; summaries change when given."""
    async with open_log() as log:
        for session_id in ("a", "b", "c"):
            await append(log, session_id)
        events = make_events("a", await log.head("a"), at="2024-01-01T00:00:00.000Z")
        await log.append("a", await log.head("a"), events, summary=replace(SUMMARY, title="second"))
        listings = await log.sessions()
        assert [listing.session_id for listing in listings] == ["a", "c", "b"]
        assert [listing.summary.title for listing in listings] == ["second", "first", "first"]
        assert listings[0].updated_at == "2024-01-01T00:00:00.000Z"
        await append(log, "a")
        assert (await log.sessions())[0].summary.title == "second"


@run
async def test_sessions_are_listed_in_pages(open_log: OpenLog) -> None:
    """By their last event and then their id, the greatest first; a page goes on behind a place."""
    async with open_log() as log:
        for number in range(7):
            await append(log, f"s{number}", at=f"2026-01-0{1 + number // 2}T00:00:00.000Z")
        await log.remove("s6", "2026-02-01T00:00:00.000Z")
        listed: list[str] = []
        before: str | None = None
        while page := await log.list_page(4, before=before):
            listed += [listing.session_id for listing in page]
            before = page[-1].place
        assert listed == ["s5", "s4", "s3", "s2", "s1", "s0"]
        assert await log.list_page(4) == (await log.list_page(100))[:4]
        assert [listing.session_id for listing in await log.list_page(4, removed=True)] == ["s6"]
        assert await log.list_page(4, before="2026-02-01T00:00:00.000Z s6", removed=True) == []


@run
async def test_a_deleted_session_is_gone(open_log: OpenLog) -> None:
    """Events, receipts and snapshot go; others stay; the id can be used again."""
    async with open_log() as log:
        await log.append("a", Head(), make_events("a"), command=CommandKey("c1", "d1"), summary=SUMMARY)
        await log.save_snapshot("a", Snapshot(await log.head("a"), "v1", b"state"))
        kept = await append(log, "b")
        await log.delete("a")
        with pytest.raises(NotFound):
            await log.read("a")
        assert [listing.session_id for listing in await log.sessions()] == ["b"]
        assert await log.read("b") == kept
        again = await append(log, "a", 2)
        assert await log.read("a") == again
        assert await log.find_command("a", "c1") is None
        assert await log.load_snapshot("a") is None


@run
async def test_a_session_in_the_trash_is_as_good_as_none(open_log: OpenLog) -> None:
    """Not listed, not read, not written, not made anew; the trash lists it with the time. Others stay."""
    async with open_log() as log:
        events = await append(log, "a", 2)
        await append(log, "b")
        await log.remove("a", "2026-01-02T00:00:00.000Z")
        for call in (
            log.read("a"),
            log.head("a"),
            log.remove("a", "x"),
            log.append("a", events[-1].head, make_events("a", events[-1].head)),
        ):
            with pytest.raises(NotFound):
                await call
        with pytest.raises(Conflict):
            await log.append("a", Head(), make_events("a"), summary=SUMMARY)
        assert [listing.session_id for listing in await log.sessions()] == ["b"]
        [listing] = await log.sessions(removed=True)
        assert (listing.session_id, listing.removed_at) == ("a", "2026-01-02T00:00:00.000Z")


@run
async def test_a_session_comes_back_from_the_trash_as_it_was(open_log: OpenLog) -> None:
    """Events, receipts and snapshot; it goes on where it was, and those who follow it now get what comes."""
    async with open_log() as log:
        await log.append("a", Head(), make_events("a"), command=CommandKey("c1", "d1"), summary=SUMMARY)
        snapshot = Snapshot(await log.head("a"), "v1", b"state")
        await log.save_snapshot("a", snapshot)
        events = await log.read("a")
        await log.remove("a", "2026-01-02T00:00:00.000Z")
        await log.restore("a")
        assert await log.read("a") == events
        assert (await log.find_command("a", "c1"), await log.load_snapshot("a")) == (Receipt("d1", 1), snapshot)
        assert [listing.removed_at for listing in await log.sessions()] == [None]
        assert await log.sessions(removed=True) == []
        follower = asyncio.create_task(take(log.follow("a", 1), 1))
        await asyncio.sleep(0)
        assert await append(log, "a") == await follower
        with pytest.raises(NotFound):
            await log.restore("a")


@run
async def test_what_is_deleted_from_the_trash_does_not_come_back(open_log: OpenLog) -> None:
    """For good: the id can be used again."""
    async with open_log() as log:
        await append(log, "a", 2)
        await log.remove("a", "2026-01-02T00:00:00.000Z")
        await log.delete("a")
        assert await log.sessions(removed=True) == []
        with pytest.raises(NotFound):
            await log.restore("a")
        again = await append(log, "a")
        assert await log.read("a") == again


@run
async def test_a_snapshot_is_replaced_by_the_next(open_log: OpenLog) -> None:
    """One snapshot per session, the last one saved; none is no error."""
    async with open_log() as log:
        await append(log, "a", 3)
        assert await log.load_snapshot("a") is None
        assert await log.load_snapshot("nobody") is None
        for snapshot in (Snapshot(Head(1, "h1"), "v1", b"one"), Snapshot(Head(3, "h3"), "v2", b"\x00three")):
            await log.save_snapshot("a", snapshot)
            assert await log.load_snapshot("a") == snapshot


UNKNOWN: list[Callable[[Log], Awaitable[object]]] = [
    lambda log: log.read("nobody"),
    lambda log: log.head("nobody"),
    lambda log: log.delete("nobody"),
    lambda log: log.remove("nobody", "2026-01-01T00:00:00.000Z"),
    lambda log: log.restore("nobody"),
    lambda log: log.save_snapshot("nobody", Snapshot(Head(), "v1", b"")),
    lambda log: log.append("nobody", Head(1, "x"), make_events("nobody", Head(1, "x"))),
    lambda log: anext(aiter(log.follow("nobody"))),
]


@run
async def test_an_unknown_session_is_not_found(open_log: OpenLog) -> None:
    """Whatever needs a session raises NotFound without one."""
    async with open_log() as log:
        for call in UNKNOWN:
            with pytest.raises(NotFound, match="nobody"):
                await call(log)


@run
async def test_a_closed_log_says_so(open_log: OpenLog) -> None:
    """After close, which may be called twice, everything raises LogError."""
    async with open_log() as log:
        await append(log, "a")
        await log.close()
        for call in (log.read("a"), log.head("a"), log.append("a", Head(1, "x"), make_events("a", Head(1, "x")))):
            with pytest.raises(LogError, match="closed"):
                await call


@run
async def test_many_sessions_append_at_once(open_log: OpenLog) -> None:
    """64 sessions that append concurrently each get their own dense log."""

    async def write(log: Log, session_id: str) -> list[Event]:
        written: list[Event] = []
        for n in range(20):
            head = written[-1].head if written else Head()
            events = make_events(session_id, head, 3, f"{session_id} {n}")
            await log.append(session_id, head, events, summary=SUMMARY if n == 0 else None)
            written += events
        return written

    async with open_log() as log:
        names = [f"s{n}" for n in range(64)]
        for session_id, written in zip(names, await asyncio.gather(*[write(log, name) for name in names]), strict=True):
            assert await log.read(session_id) == written


@run
async def test_of_racing_appends_one_wins(open_log: OpenLog) -> None:
    """Appends that expect the same head: exactly one is taken, the others get Conflict; so for new sessions too."""
    async with open_log() as log:
        for head in (Head(), (await append(log, "b", 2))[-1].head):
            session_id = "b" if head.seq else "a"
            racers = [make_events(session_id, head, 2, f"racer {n}") for n in range(20)]
            outcomes = await asyncio.gather(
                *[log.append(session_id, head, events, summary=SUMMARY) for events in racers],
                return_exceptions=True,
            )
            (winner,) = [events for events, outcome in zip(racers, outcomes, strict=True) if outcome is None]
            assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19
            assert await log.read(session_id, head.seq) == winner


async def take(following: AsyncIterator[list[Event]], count: int) -> list[Event]:
    taken: list[Event] = []
    async for batch in following:
        assert batch
        taken += batch
        if len(taken) >= count:
            break
    return taken


@run
async def test_following_has_no_seam(open_log: OpenLog) -> None:
    """History, then live: followers that start anywhere while events are appended see each event once, in order."""
    async with open_log() as log:
        await append(log, "a", 1_500)
        total = 1_500 + 400

        async def write() -> None:
            head = await log.head("a")
            for n in range(200):
                events = make_events("a", head, 2, f"live {n}")
                await log.append("a", head, events)
                head = events[-1].head
                if n % 3 == 0:
                    await asyncio.sleep(0)

        starts = [0, 1, 700, 1_499, 1_500, 1_501]
        followers = [asyncio.create_task(take(log.follow("a", after), total - after)) for after in starts]
        await write()
        for after, follower in zip(starts, followers, strict=True):
            assert [event.seq for event in await follower] == list(range(after + 1, total + 1))
        late = [asyncio.create_task(take(log.follow("a", after), total - after)) for after in (0, 1_899)]
        assert [len(await follower) for follower in late] == [total, 1]


@run
async def test_a_slow_follower_misses_nothing(open_log: OpenLog) -> None:
    """A follower that pauses while thousands of events come in still gets them all."""
    async with open_log() as log:
        await append(log, "a")
        following = log.follow("a")
        seen = await anext(following)
        for _ in range(30):
            await append(log, "a", 100)
        async for batch in following:
            seen += batch
            if len(seen) == 3_001:
                break
        assert seen == await log.read("a", limit=5_000)


@pytest.mark.parametrize("to_trash", [True, False])
@run
async def test_followers_end_when_the_session_is_deleted(open_log: OpenLog, to_trash: bool) -> None:
    """Deletion, also to the trash, ends those who wait for the session, not those of others."""
    async with open_log() as log:
        await append(log, "a")
        await append(log, "b")
        follower = asyncio.create_task(take(log.follow("a", 1), 1))
        other = asyncio.create_task(take(log.follow("b", 1), 1))
        await asyncio.sleep(0)
        await (log.remove("a", "2026-01-01T00:00:00.000Z") if to_trash else log.delete("a"))
        assert await follower == []
        assert await append(log, "b") == await other


@run
async def test_followers_end_when_the_log_closes(open_log: OpenLog) -> None:
    """Close ends every follower, also one that is still in history."""
    async with open_log() as log:
        await append(log, "a", 5)
        waiting = asyncio.create_task(take(log.follow("a", 5), 1))
        reading = log.follow("a")
        await anext(reading)
        await asyncio.sleep(0)
        await log.close()
        assert await waiting == []
        assert [batch async for batch in reading] == []


@run
async def test_a_cancelled_append_is_whole_or_absent(open_log: OpenLog) -> None:
    """Who cancels an append may find it done, never half done; the log goes on."""
    async with open_log() as log:
        events = await append(log, "a")
        task = asyncio.create_task(log.append("a", events[-1].head, make_events("a", events[-1].head, 3)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await append(log, "b")  # everything before it has been decided
        assert (await log.head("a")).seq in (1, 4)
        await append(log, "a")
        await verify(log, "a")


@run
async def test_a_session_remembers_its_project(open_log: OpenLog) -> None:
    """Lists tell it, the log does not have it, it can be set anew. Without such a session it is NotFound."""
    async with open_log() as log:
        (event,) = await append(log, "a", 1)
        await append(log, "b", 1)
        for project in (Project("/one/moot.yaml", "/one"), Project("chat-demo")):
            await log.set_project("a", project)
            assert {listing.session_id: listing.project for listing in await log.sessions()} == {
                "a": project,
                "b": None,
            }
        await log.set_project("b", Project("chat-demo"))
        await log.remove("a", "2026-01-01T00:00:00.000Z")
        assert [listing.project for listing in await log.sessions(removed=True)] == [Project("chat-demo")]
        await log.restore("a")
        assert await log.read("a") == [event]
        with pytest.raises(NotFound):
            await log.set_project("c", Project("chat-demo"))
