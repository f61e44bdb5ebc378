"""Every log finds what was said, and finds the same (runtime/ports.py: Log.search)."""

from pathlib import Path

import pytest

from moot.core.codec import Head, stamp
from moot.core.facts import Fact
from moot.core.search_words import read_query
from moot.core.session.attachments import Attachment
from moot.core.session.events import MessagePosted, SessionRenamed, TurnStarted
from moot.runtime.ports import Log
from moot.runtime.stores.sqlite import SqliteLog
from tests.contract.logs import AT, SUMMARY, TEAM, OpenLog, closing, run
from tests.core.test_search_words import FOUND, MISSED


async def say(log: Log, session_id: str, *facts: Fact | str, at: str = AT) -> None:
    known = {listing.session_id: listing.head for listing in await log.sessions()}
    head = known.get(session_id, Head())
    said = [MessagePosted(member="ann", text=fact) if isinstance(fact, str) else fact for fact in facts]
    events = stamp(TEAM, session_id, head, said, at)
    await log.append(session_id, head, events, summary=None if head.seq else SUMMARY)


async def find(log: Log, query: str, session_id: str | None = None, limit: int = 50) -> list[tuple[str, int]]:
    found = await log.search(read_query(query), session_id=session_id, limit=limit)
    return [(place.session_id, place.seq) for place in found]


@run
async def test_words_of_any_language_are_found(open_log: OpenLog) -> None:
    """Also words of two Chinese characters, which no tokenizer of a database cuts out."""
    async with open_log() as log:
        texts = list(dict.fromkeys(text for _, text in (*FOUND, *MISSED)))
        await say(log, "a", *texts)
        for query, text in FOUND:
            assert ("a", texts.index(text) + 1) in await find(log, query), query
        for query, text in MISSED:
            assert ("a", texts.index(text) + 1) not in await find(log, query), query


@run
async def test_the_newest_comes_first(open_log: OpenLog) -> None:
    """Over all sessions, or in one; at most so many."""
    async with open_log() as log:
        await say(log, "a", "herbs one", at="2025-01-01T00:00:01.000Z")
        await say(log, "b", "no", "herbs two", at="2025-01-01T00:00:02.000Z")
        await say(log, "a", "herbs three", "Herbs four", at="2025-01-01T00:00:03.000Z")
        assert await find(log, "herbs") == [("a", 3), ("a", 2), ("b", 2), ("a", 1)]
        assert await find(log, "herbs", limit=2) == [("a", 3), ("a", 2)]
        assert await find(log, "herbs", "b") == [("b", 2)]
        assert await find(log, "herbs", "nowhere") == []
        assert await find(log, "two herbs") == [("b", 2)]


@run
async def test_what_is_said_and_what_is_not(open_log: OpenLog) -> None:
    """Titles and names of files count; the ids and names in other events do not."""
    async with open_log() as log:
        file = Attachment(sha256="a" * 64, name="quince.png", media_type="image/png", size=1)
        picture = MessagePosted(member="ann", text="", attachments=(file,))
        await say(
            log,
            "a",
            picture,
            SessionRenamed(title="Medlar", member=None),
            TurnStarted(turn_id="t1", member="bot", index=0, hop=1),
        )
        assert await find(log, "quince") == [("a", 1)]
        assert await find(log, "medlar") == [("a", 2)]
        assert await find(log, "bot") == await find(log, "t1") == await find(log, "turn") == []


@run
async def test_what_is_appended_is_found_at_once_and_what_is_deleted_never(open_log: OpenLog) -> None:
    """A search sees every append before it; the trash is left out until it is restored."""
    async with open_log() as log:
        await say(log, "a", "herbs")
        await say(log, "b", "herbs")
        assert len(await find(log, "herbs")) == 2
        await say(log, "a", "more herbs")
        assert len(await find(log, "herbs")) == 3
        await log.remove("b", AT)
        assert {session_id for session_id, _ in await find(log, "herbs")} == {"a"}
        await log.restore("b")
        assert {session_id for session_id, _ in await find(log, "herbs")} == {"a", "b"}
        await log.delete("a")
        assert await find(log, "herbs") == [("b", 1)]
        await say(log, "a", "something else")
        assert await find(log, "herbs") == [("b", 1)]
        assert await find(log, "something") == [("a", 1)]


@pytest.mark.parametrize("query", ['"', "* OR said", "NEAR(a b)", "a' | 'b", "words:x", "-a", "%"])
@run
async def test_a_query_is_words_and_nothing_else(query: str, open_log: OpenLog) -> None:
    """What would be syntax in a database is cut away, or means itself."""
    async with open_log() as log:
        await say(log, "a", "harmless")
        assert await find(log, query) == []


@run
async def test_an_index_is_made_again(path: Path) -> None:
    """One that is missing, damaged, or of a log that was replaced gives the same answers."""
    async with closing(await SqliteLog.open(path)) as log:
        await say(log, "a", "herbs")
        assert await find(log, "herbs") == [("a", 1)]
    index = path.with_name("moot-search.db")
    assert index.stat().st_mode & 0o777 == 0o600
    index.write_bytes(b"x" * 10_000)
    async with closing(await SqliteLog.open(path)) as log:
        assert await find(log, "herbs") == [("a", 1)]
    path.unlink()  # noqa: ASYNC240 - nobody waits
    async with closing(await SqliteLog.open(path)) as log:
        await say(log, "a", "spices")
        assert await find(log, "herbs") == []
        assert await find(log, "spices") == [("a", 1)]


@run
async def test_several_processes_search_one_log(path: Path) -> None:
    """A log for reading brings the index up to date too, beside the writer."""
    async with closing(await SqliteLog.open(path)) as log:
        await say(log, "a", "herbs")
        async with closing(await SqliteLog.open(path, read_only=True)) as reading:
            assert await find(reading, "herbs") == [("a", 1)]
            await say(log, "a", "more herbs")
            assert len(await find(reading, "herbs")) == len(await find(log, "herbs")) == 2
