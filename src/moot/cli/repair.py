"""`moot doctor --repair`: export what is intact of damaged sessions into files. The log itself is not changed."""

import os
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from moot.cli.checks import Check
from moot.cli.exporting import write_jsonl
from moot.cli.progress import Progress
from moot.cli.storage_checks import verify_all
from moot.core.codec import Event
from moot.core.errors import LogError, Unusable
from moot.runtime.ports import Store

UNSAFE = re.compile(r"[^A-Za-z0-9_-]")  # in a file's name; ids from an untrusted log may contain anything


async def repair(store: Store, data: Path) -> AsyncIterator[Check]:
    """Export each damaged session into a folder in `data`; all sessions if the store cannot say which are damaged."""
    try:
        damaged = await find_damaged(store) if store.exists() else set()
    except Unusable:  # already reported
        return
    if damaged == set():
        yield Check(name="repair", status="ok", says="there is nothing to repair")
        return
    folder = data / f"repaired-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    folder.mkdir(mode=0o700)
    exported = set()
    with Progress("exporting what is intact", unit="sessions") as progress:
        for events in store.salvage():
            session_id = events[0].session_id
            if damaged is None or session_id in damaged:
                yield describe(events, await export(folder, events), is_listed=damaged is not None)
                exported.add(session_id)
                progress.advance()
    for session_id in sorted((damaged or set()) - exported):
        fix = f"`moot sessions rm {session_id}` removes it"
        says = f"{session_id}: nothing of it is intact"
        yield Check(name="repair", status="fail", says=says, fix=fix, is_damage=True)


async def find_damaged(store: Store) -> set[str] | None:
    """Return the ids of damaged sessions; None if the log itself cannot be read. Raises Unusable."""
    try:
        return {verdict.session_id for verdict in await verify_all(store) if verdict.is_damaged}
    except Unusable:
        raise
    except LogError:
        return None


async def export(folder: Path, events: list[Event]) -> Path:
    path = folder / f"{UNSAFE.sub('_', events[0].session_id)}.jsonl"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: ASYNC230
        await write_jsonl(_iterate(events), file.write)
    return path


def describe(events: list[Event], file: Path, *, is_listed: bool) -> Check:
    session_id, last = events[0].session_id, events[-1].seq
    fix = f"`moot sessions import {file} --data DIR` takes it into another folder"
    if is_listed:
        fix = f"`moot sessions fork {session_id} --at {last}` goes on from there, then `moot sessions rm {session_id}`"
    return Check(name="repair", status="ok", says=f"{session_id}: intact up to seq {last}, exported to {file}", fix=fix)


async def _iterate(events: list[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event
