"""`moot sessions`: what was said, kept for good. Reading needs no lock: a server may be running on the same data.

With --connect the sessions are a server's.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Protocol

import msgspec

from moot.app import DATABASE
from moot.cli import exits
from moot.cli.copies import fork_session, import_session, read_export
from moot.cli.data import add_data_argument, data_folder
from moot.cli.lines.board import list_board
from moot.cli.run import pick_session_id
from moot.cli.spending import describe_spending
from moot.cli.transcript import Transcript, to_markdown
from moot.core import state as states
from moot.core.codec import Event, frame, stamp
from moot.core.commands import Rename
from moot.core.decide import decide
from moot.core.errors import Corrupt, NotFound
from moot.core.evolve import evolve
from moot.core.state import State
from moot.core.team import Language
from moot.protocol.one_file import to_html
from moot.runtime.clock import SystemClock, seconds_between
from moot.runtime.journal import summarise
from moot.runtime.ports import Listing
from moot.runtime.snapshots import READ_EVENTS, load_state
from moot.runtime.stores.sqlite import SqliteLog


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, action in ACTIONS.items():
        each = actions.add_parser(name, help=action.__doc__, description=action.__doc__)
        each.set_defaults(action=action)
        if name == "import":
            each.add_argument("file", metavar="FILE", help="as `sessions export` wrote it (jsonl); - is standard input")
        elif name != "list":
            each.add_argument("id", metavar="ID", nargs="?" if name == "verify" else None, help="a prefix is enough")
        if name == "export":
            each.add_argument("--format", choices=["jsonl", "md", "html"], default="jsonl")
            each.add_argument("--html", action="store_const", dest="format", const="html", help="one file, no server")
            each.add_argument("--out", metavar="FILE", help="instead of standard output")
        elif name not in CHANGES:
            each.add_argument("--json", action="store_true", help="JSON Lines")
        if name == "rename":
            each.add_argument("title", metavar="TITLE", help="one line of text")
        if name == "fork":
            each.add_argument("--at", type=int, metavar="SEQ", help="the last event to take over (default: all)")
        if name == "replay":
            each.add_argument("--at", type=int, metavar="SEQ", help="stop after this event and show the state there")
            each.add_argument("--speed", type=float, default=0.0, help="times the real pace; 0 = at once")
        add_data_argument(each)
        if name not in LOCAL:
            each.add_argument("--connect", metavar="URL", help="as `moot serve` printed it, instead of --data")


class Readable(Protocol):
    """As much of a log as is read here: in a folder, or on a server."""

    async def sessions(self) -> list[Listing]: ...

    async def read(self, session_id: str, after: int = 0, limit: int = 1_000) -> list[Event]: ...


async def run(options: Namespace) -> int:
    return int(await options.action(options))


def database(options: Namespace) -> Path:
    path = data_folder(options) / DATABASE
    if not path.exists():
        raise NotFound(f"there are no sessions in {path.parent} yet")
    return path


@asynccontextmanager
async def reading(options: Namespace) -> AsyncIterator[Readable]:
    if options.connect:
        from moot.cli.remote import reading_from  # only now: without --connect nothing of it is needed

        async with reading_from(options) as there:
            yield there
        return
    log = await SqliteLog.open(database(options), read_only=True)
    try:
        yield log
    finally:
        await log.close()


async def list_sessions(options: Namespace) -> int:
    """every session, the last active first"""
    if not options.connect and not (data_folder(options) / DATABASE).exists():
        return exits.OK
    async with reading(options) as log:
        listings = await log.sessions()
    for listing in listings:
        print(json.dumps(describe(listing), ensure_ascii=False) if options.json else one_line(listing))
    return exits.OK


def describe(listing: Listing) -> dict[str, object]:
    return {
        "session_id": listing.session_id,
        "seq": listing.head.seq,
        "hash": listing.head.hash,
        "created_at": listing.created_at,
        "updated_at": listing.updated_at,
        **msgspec.to_builtins(listing.summary),
    }


def one_line(listing: Listing) -> str:
    summary = listing.summary
    waits = f" for {summary.waiting_for}" if summary.waiting_for else ""
    return (
        f"{listing.session_id}  {listing.updated_at}  {summary.status + waits:20}  #{listing.head.seq:<6}  "
        f"{summary.team}  {summary.title}".rstrip()
    )


async def show(options: Namespace) -> int:
    """the conversation and what it cost; with --json the folded state, seq and hash"""
    async with reading(options) as log:
        session_id = await find(log, options.id)
        transcript, last = Transcript(), None
        async for event in every_event(log, session_id):
            lines, last = transcript.lines(event), event
            if not options.json:
                print("\n".join(lines), end="\n" if lines else "")
    if transcript.state and not options.json:
        lines = [*list_board(transcript.state), *describe_spending(transcript.state)]
        print("".join(f"{line}\n" for line in lines), end="")
    if options.json and last and transcript.state:
        state = msgspec.to_builtins(transcript.state)
        print(
            json.dumps(
                {"session_id": session_id, "seq": last.seq, "hash": last.hash, "state": state}, ensure_ascii=False
            )
        )
    return exits.OK


async def export(options: Namespace) -> int:
    """the whole session as jsonl (one frame a line), md, or one html file"""
    events: list[Event] = []
    damage: Corrupt | None = None
    async with reading(options) as log:
        try:
            async for event in every_event(log, await find(log, options.id)):
                events.append(event)  # noqa: PERF401 - those before the damage are kept
        except Corrupt as error:
            damage = error
    if options.format == "md":
        text = to_markdown(events)
    elif options.format == "html":
        told = with_language(events)
        frames = [msgspec.json.decode(frame(event, language)) for event, language in told]
        text = to_html(frames, told[-1][1] if told else "en")
    else:
        text = "".join(frame(event, language).decode() + "\n" for event, language in with_language(events))
    with open(options.out, "w", encoding="utf-8") if options.out else nullcontext(sys.stdout) as file:  # noqa: ASYNC230
        file.write(text)
    if damage:
        raise damage
    return exits.OK


async def replay(options: Namespace) -> int:
    """the session again, event by event, folded from its log"""
    transcript, previous = Transcript(), None
    async with reading(options) as log:
        session_id = await find(log, options.id)
        async for event in every_event(log, session_id):
            if options.speed and previous:
                await asyncio.sleep(seconds_between(previous.timestamp, event.timestamp) / options.speed)
            previous = event
            lines = transcript.lines(event)
            if options.json and transcript.state:
                lines = [frame(event, transcript.state.language).decode()]
            for line in lines:
                print(line if options.json else f"#{event.seq:<5} {line}", flush=True)
            if event.seq == options.at:
                break
    if options.at and transcript.state:
        print(states.encode(transcript.state).decode())
    return exits.OK


async def verify(options: Namespace) -> int:
    """check the hash chain and fold the log again; all sessions without ID; exit 6 if one is damaged"""
    damaged = 0
    async with reading(options) as log:
        ids = [listing.session_id for listing in await log.sessions()]
        for session_id in [pick_session_id(ids, options.id)] if options.id else ids:
            report: dict[str, object] = {"session_id": session_id, "ok": True}
            state: State | None = None
            try:
                async for event in every_event(log, session_id):
                    state = evolve(state, event.fact)
                    report |= {"seq": event.seq, "hash": event.hash}
            except Corrupt as error:
                damaged += 1
                report |= {"ok": False, "damaged_at": error.seq, "error": str(error)}
            if options.json:
                print(json.dumps(report))
            else:
                print(f"{session_id}: {'ok, ' + str(report['seq']) + ' events' if report['ok'] else report['error']}")
    return exits.INTEGRITY if damaged else exits.OK


async def remove(options: Namespace) -> int:
    """remove a session for good; asks first on a terminal"""
    log = await SqliteLog.open(database(options))
    try:
        session_id = await find(log, options.id)
        if sys.stdin.isatty() and sys.stdout.isatty():
            answer = await asyncio.to_thread(input, f"remove {session_id} for good? [y/N] ")
            if answer.strip().lower() not in ("y", "yes"):
                return exits.FAILED
        await log.delete(session_id)
        print(f"removed {session_id}", file=sys.stderr)
    finally:
        await log.close()
    return exits.OK


async def rename(options: Namespace) -> int:
    """call a session something else; everybody sees it"""
    if options.connect:
        from moot.cli.remote import connected

        async with connected(options) as client:
            ids = [str(entry["session_id"]) for entry in await client.sessions()]
            await client.command("user.rename", {"title": options.title}, pick_session_id(ids, options.id))
        return exits.OK
    log = await SqliteLog.open(database(options))
    try:
        session_id = await find(log, options.id)
        state, head = await load_state(log, session_id)
        at = SystemClock().now()
        decided = decide(state, Rename(title=options.title), at)
        if events := stamp(state.team, session_id, head, decided.facts, at):
            await log.append(session_id, head.seq, events, summary=summarise(decided.state))
    finally:
        await log.close()
    return exits.OK


async def fork(options: Namespace) -> int:
    """a new session from any event of another: the same until there, then its own"""
    log = await SqliteLog.open(database(options))
    try:
        source = await find(log, options.id)
        print(await fork_session(log, source, options.at))
    finally:
        await log.close()
    return exits.OK


async def import_file(options: Namespace) -> int:
    """a session that was exported as jsonl, checked and under a new id; nothing of it is run"""
    with open(options.file, "rb") if options.file != "-" else nullcontext(sys.stdin.buffer) as file:  # noqa: ASYNC230
        events = read_export(file)
    data_folder(options).mkdir(parents=True, exist_ok=True)
    log = await SqliteLog.open(data_folder(options) / DATABASE)
    try:
        print(await import_session(log, events))
    finally:
        await log.close()
    return exits.OK


LOCAL = ("rm", "fork", "import")  # what a server keeps is changed where it is kept
CHANGES = (*LOCAL, "rename")
ACTIONS = {
    "list": list_sessions,
    "show": show,
    "export": export,
    "replay": replay,
    "verify": verify,
    "fork": fork,
    "import": import_file,
    "rename": rename,
    "rm": remove,
}


async def find(log: Readable, prefix: str) -> str:
    return pick_session_id([listing.session_id for listing in await log.sessions()], prefix)


async def every_event(log: Readable, session_id: str) -> AsyncIterator[Event]:
    """From the first to the last; of a damaged session what is good, then Corrupt."""
    after, damage = 0, None
    while damage is None:
        try:
            events = await log.read(session_id, after, READ_EVENTS)
        except Corrupt as error:
            damage = error
            events = await log.read(session_id, after, error.seq - 1 - after) if error.seq - 1 > after else []
        for event in events:
            yield event
        if not events:
            break
        after = events[-1].seq
    if damage:
        raise damage


def with_language(events: list[Event]) -> list[tuple[Event, Language]]:
    """Each event with the language the session spoke then."""
    state: State | None = None
    told = []
    for event in events:
        state = evolve(state, event.fact)
        told.append((event, state.language))
    return told
