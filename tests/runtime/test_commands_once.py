"""Exactly-once commands: the id that a sender chose makes repeating harmless."""

import asyncio
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.errors import CommandReused, Refused
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted
from moot.runtime.ports import CommandKey
from tests.runtime.apps import TRIO, facts, run, say

KEY = CommandKey("c1", "digest of hello")


@pytest.mark.parametrize("durable", [True, False])
@run
async def test_a_command_sent_100_times_at_once_counts_once(durable: bool, tmp_path: Path) -> None:
    """One message, and every sender gets the same receipt."""
    async with open_app(TRIO, data=tmp_path if durable else None) as app:
        session = await app.session()
        receipts = await asyncio.gather(*[session.submit(Post(text="hello"), KEY) for _ in range(100)])
        assert len(set(receipts)) == 1
        assert receipts[0].digest == KEY.digest
        assert [message.text for message in await facts(app, session, MessagePosted)] == ["hello"]


@run
async def test_the_first_result_is_remembered_for_good(tmp_path: Path) -> None:
    """Repeating a command after a restart, with other things said since, gives the receipt of the first time."""
    async with open_app(TRIO, data=tmp_path) as app:
        session = await app.session()
        first = await session.submit(Post(text="hello"), KEY)
        await say(session, "something else")
    async with open_app(TRIO, data=tmp_path) as app:
        session = await app.session(session.id)
        assert await session.submit(Post(text="hello"), KEY) == first
        assert len(await facts(app, session, MessagePosted)) == 2


@run
async def test_one_id_for_two_bodies_is_refused() -> None:
    """The second body changes nothing and does not spoil the first."""
    async with open_app(TRIO) as app:
        session = await app.session()
        first = await session.submit(Post(text="hello"), KEY)
        with pytest.raises(CommandReused, match="c1"):
            await session.submit(Post(text="goodbye"), CommandKey("c1", "digest of goodbye"))
        assert await session.submit(Post(text="hello"), KEY) == first
        assert len(await facts(app, session, MessagePosted)) == 1


@run
async def test_bodies_that_race_for_one_id() -> None:
    """Of 50 different bodies with one id exactly one is taken, the others are told."""
    async with open_app(TRIO) as app:
        session = await app.session()
        sent = [session.submit(Post(text=f"body {n}"), CommandKey("c1", f"digest {n}")) for n in range(50)]
        outcomes = await asyncio.gather(*sent, return_exceptions=True)
        assert sum(isinstance(outcome, CommandReused) for outcome in outcomes) == 49
        assert len(await facts(app, session, MessagePosted)) == 1


@run
async def test_a_refused_command_uses_up_no_id() -> None:
    """What was refused may be sent again with the same id, corrected or not."""
    async with open_app(TRIO) as app:
        session = await app.session()
        with pytest.raises(Refused):
            await session.submit(Post(text=" "), KEY)
        await session.submit(Post(text="hello"), KEY)
        assert len(await facts(app, session, MessagePosted)) == 1


@run
async def test_ids_belong_to_a_session() -> None:
    """Two sessions may use the same id for different things."""
    async with open_app(TRIO) as app:
        for text in ("hello", "goodbye"):
            session = await app.session()
            await session.submit(Post(text=text), CommandKey("c1", f"digest of {text}"))
            assert len(await facts(app, session, MessagePosted)) == 1
