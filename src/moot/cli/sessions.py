"""`moot sessions`: lists, shows, checks, copies and removes sessions.

Reading takes no lock, so that a server may run on the same data. With --connect the sessions are those of a server.
The docstrings of the actions are their help texts.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from functools import partial

import msgspec

from moot.agents.cli.memory import FOLDER as CONVERSATIONS
from moot.agents.cli.memory import Conversations
from moot.agents.cli.takeovers import describe_takeover, list_takeovers
from moot.cli import exits
from moot.cli.changing import changing
from moot.cli.copies import check_export, open_twice
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.exporting import FORMATS, writing
from moot.cli.packing import write_archive
from moot.cli.parser import read_count, read_number, read_seq
from moot.cli.progress import Progress
from moot.cli.reading import every_event, find, find_existing, reading
from moot.cli.run import pick_session_id
from moot.cli.session_search import search_sessions
from moot.cli.session_table import draw_table, tell_status
from moot.cli.session_work import HOWS, open_tree, show_diff, take_work
from moot.cli.usage import UsageError
from moot.cli.verifying import report, tell, verify
from moot.cli.wording import say
from moot.config.own_folders import find_trees_folder
from moot.core.codec import frame
from moot.core.errors import NotFound
from moot.core.machines.session import Status
from moot.core.view import project
from moot.runtime.clock import SystemClock, seconds_between
from moot.runtime.ports import Listing
from moot.runtime.summaries import find_need
from moot.runtime.workspaces.work_changes import WorkChanges, find_recorded
from moot.telling.standing import describe_spending, describe_standing, list_board
from moot.telling.teller import Teller


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title=say("help.actions"))
    for name, action in ACTIONS.items():
        action_parser = actions.add_parser(name, help=(line := say(f"help.sessions.{name}")), description=line)
        action_parser.set_defaults(action=action)
        if name == "import":
            action_parser.add_argument(
                "file",
                metavar="FILE",
                help=say("help.sessions.file"),
            )
        elif name == "search":
            _add_search_arguments(action_parser)
        elif name != "list":
            action_parser.add_argument(
                "id", metavar="ID", nargs="?" if name == "verify" else None, help=say("help.sessions.id")
            )
        if name == "export":
            formats = action_parser.add_mutually_exclusive_group()
            formats.add_argument("--format", choices=list(FORMATS), default="jsonl", help=say("help.sessions.format"))
            formats.add_argument(
                "--html", action="store_const", dest="format", const="html", help=say("help.sessions.html")
            )
            action_parser.add_argument("--out", metavar="FILE", help=say("help.sessions.out"))
            action_parser.add_argument("--with-files", action="store_true", help=say("help.sessions.with_files"))
        elif name not in CHANGES:
            action_parser.add_argument("--json", action="store_true", help=say("help.json_lines"))
        _add_own_arguments(action_parser, name)
        add_store_arguments(action_parser)
        if name in LOCAL:
            action_parser.set_defaults(connect=None)
        else:
            action_parser.add_argument("--connect", metavar="URL", help=say("help.sessions.connect"))


def _add_search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="+", help=say("help.sessions.words"))
    parser.add_argument("--session", metavar="ID", help=say("help.sessions.only"))
    parser.add_argument("--limit", type=read_count, metavar="N", help=say("help.sessions.limit"))


def _add_own_arguments(parser: ArgumentParser, name: str) -> None:
    match name:
        case "list":
            parser.add_argument("--removed", action="store_true", help=say("help.sessions.removed"))
            parser.add_argument("--team", metavar="NAME", help=say("help.sessions.team"))
            parser.add_argument(
                "--status", choices=[str(status) for status in Status], help=say("help.sessions.status")
            )
            parser.add_argument("--limit", type=read_count, metavar="N", help=say("help.sessions.limit"))
        case "rm":
            parser.add_argument("--forever", action="store_true", help=say("help.sessions.forever"))
            parser.add_argument("--yes", action="store_true", help=say("help.sessions.yes"))
        case "rename":
            parser.add_argument("title", metavar="TITLE", help=say("help.sessions.title"))
        case "fork":
            parser.add_argument("--at", type=read_seq, metavar="SEQ", help=say("help.sessions.fork_at"))
            parser.add_argument("--with-work", action="store_true", help=say("help.sessions.with_work"))
        case "diff":
            parser.add_argument("--task", metavar="TASK", help=say("help.sessions.task"))
            parser.add_argument("--turn", metavar="TURN", help=say("help.sessions.turn"))
            parser.add_argument("--stat", action="store_true", help=say("help.sessions.stat"))
        case "open":
            parser.add_argument("--task", metavar="TASK", help=say("help.sessions.tree"))
        case "take":
            hows = parser.add_mutually_exclusive_group(required=True)
            for how in HOWS:
                hows.add_argument(
                    f"--{how}", action="store_const", dest="how", const=how, help=say(f"help.sessions.how.{how}")
                )
            parser.add_argument("--yes", action="store_true", help=say("help.sessions.take_yes"))
        case "replay":
            parser.add_argument("--at", type=read_seq, metavar="SEQ", help=say("help.sessions.replay_at"))
            parser.add_argument("--speed", type=read_number, metavar="X", default=0.0, help=say("help.sessions.speed"))


async def run(options: Namespace) -> int:
    return int(await options.action(options))


async def list_sessions(options: Namespace) -> int:
    """list every session, the last active first; at a terminal grouped by project"""
    listings = []
    with suppress(NotFound), Progress("listing sessions"):
        async with reading(options) as log:
            listings = await log.sessions(removed=options.removed)
    is_empty = not listings
    listings = [listing for listing in listings if is_wanted(listing, options)][: options.limit]
    if options.json:
        lines = [json.dumps(describe(listing), ensure_ascii=False) for listing in listings]
    elif sys.stdout.isatty() and listings:
        lines = draw_table(listings, SystemClock().now())
    else:  # for programs: a line a session, full times
        lines = [one_line(listing) for listing in listings]
    for line in lines:
        print(line)
    if not listings and not is_empty:
        print("no session fits these filters", file=sys.stderr)
    elif not listings and options.removed:
        print("the trash is empty", file=sys.stderr)
    elif not listings:
        say_none(options)
    return exits.OK


def is_wanted(listing: Listing, options: Namespace) -> bool:
    """Whether a session fits the filters of the command line."""
    summary = listing.summary
    return options.team in (None, summary.team) and options.status in (None, str(summary.status))


def say_none(options: Namespace) -> None:
    where = options.connect.partition("#")[0] if options.connect else find_sessions(options)
    print(f"no sessions in {where} yet; `moot chat` starts one", file=sys.stderr)


def describe(listing: Listing) -> dict[str, object]:
    return {
        "session_id": listing.session_id,
        "seq": listing.head.seq,
        "hash": listing.head.hash,
        "created_at": listing.created_at,
        "updated_at": listing.updated_at,
        **msgspec.to_builtins(listing.summary),
        "needs": find_need(listing.summary),
        "removed_at": listing.removed_at,
        "project": msgspec.to_builtins(listing.project),
    }


def one_line(listing: Listing) -> str:
    summary = listing.summary
    return (
        f"{listing.session_id}  {listing.updated_at}  {tell_status(listing):20}  #{listing.head.seq:<6}  "
        f"{summary.team}  {summary.title}".rstrip()
    )


async def show(options: Namespace) -> int:
    """show the conversation, how far its work is and what it cost; with --json its view, seq and hash"""
    teller, last = Teller(), None
    async with reading(options) as log:
        listing = await find(log, options.id)
        with Progress(f"reading {listing.session_id}", listing.head.seq) as progress:
            async for event in every_event(log, listing.session_id):
                lines, last = teller.lines(event.fact), event
                progress.advance()
                for line in lines if not options.json else ():
                    progress.print(line)
    if last and teller.state:
        if options.json:
            document = {"session_id": last.session_id, "seq": last.seq, "hash": last.hash}
            print(json.dumps({**document, "state": msgspec.to_builtins(project(teller.state))}, ensure_ascii=False))
        else:
            view = project(teller.state)
            conversations = Conversations(data_folder(options) / CONVERSATIONS)
            takeovers = [describe_takeover(view, each) for each in list_takeovers(conversations, last.session_id, view)]
            lines = [*list_board(teller.state), *describe_spending(teller.state), *takeovers]
            print("".join(f"{line}\n" for line in lines), end="")
    return exits.OK


async def export(options: Namespace) -> int:
    """write the whole session as jsonl (one frame a line), md, or one html file"""
    if options.with_files:
        return await export_with_files(options)
    async with reading(options) as log:
        listing = await find(log, options.id)
        with (
            writing(options.out) as write,
            Progress(f"exporting {listing.session_id}", listing.head.seq) as progress,
        ):
            events = progress.count(every_event(log, listing.session_id))
            await FORMATS[options.format](events, write or progress.write)
    return exits.OK


async def export_with_files(options: Namespace) -> int:
    if options.out is None or options.format != "jsonl":
        raise UsageError("--with-files writes an archive: add --out FILE.zip, and no other format")
    async with reading(options) as log:
        listing = await find(log, options.id)
        with Progress(f"exporting {listing.session_id}", listing.head.seq) as progress:
            events = progress.count(every_event(log, listing.session_id))
            missing = await write_archive(
                options.out, events, FORMATS["jsonl"], partial(log.get_file, listing.session_id)
            )
    for sha256 in missing:
        print(f"file {sha256} is not here any more; the archive is without it", file=sys.stderr)
    return exits.OK


async def replay(options: Namespace) -> int:
    """play the session again, event by event, folded from its log"""
    teller, previous = Teller(), None
    async with reading(options) as log:
        listing = await find(log, options.id)
        if options.at is not None:
            check_seq(listing, options.at)
        with Progress(f"replaying {listing.session_id}", options.at or listing.head.seq) as progress:
            async for event in progress.count(every_event(log, listing.session_id)):
                if options.speed and previous:
                    await asyncio.sleep(seconds_between(previous.timestamp, event.timestamp) / options.speed)
                previous = event
                lines = teller.lines(event.fact)
                if options.json and teller.state:
                    lines = [frame(event, teller.state.language).decode()]
                for line in lines:
                    progress.print(line if options.json else f"#{event.seq:<5} {line}")
                if options.speed:
                    sys.stdout.flush()  # a person watches at this pace
                if event.seq == options.at:
                    break
    if options.at and teller.state:
        state = teller.state
        lines = [msgspec.json.encode(project(state)).decode()] if options.json else ["", *describe_standing(state)]
        print("\n".join(lines))
    return exits.OK


async def verify_sessions(options: Namespace) -> int:
    """check the hash chain and fold the log again; all sessions without ID; exit 6 if one is damaged"""
    damaged = 0
    if not options.id and not options.connect and not find_sessions(options).exists():
        say_none(options)
        return exits.OK
    async with reading(options) as log:
        listings = [await find(log, options.id)] if options.id else await log.sessions()
        with Progress("checking hashes", sum(listing.head.seq for listing in listings)) as progress:
            async for verdict in verify(log, listings, progress):
                damaged += verdict.is_damaged
                progress.print(json.dumps(report(verdict)) if options.json else tell(verdict))
    return exits.INTEGRITY if damaged else exits.OK


async def remove(options: Namespace) -> int:
    """move a session to the trash, where it is for 30 days; with --forever delete it, also from the trash"""
    async with changing(options, find_existing(options)) as log:
        listings = [*await log.sessions(), *await log.sessions(removed=True)]
        is_in_trash = {listing.session_id: listing.removed_at is not None for listing in listings}
        session_id = pick_session_id(list(is_in_trash), options.id)
        if options.forever:
            if not (options.yes or await confirm(f"delete {session_id} for good? [y/N] ")):
                print("nothing was deleted", file=sys.stderr)
                return exits.FAILED
            await log.delete(session_id)
            print(f"deleted {session_id} for good", file=sys.stderr)
        elif is_in_trash[session_id]:
            print(f"{session_id} is in the trash already; --forever deletes it", file=sys.stderr)
        else:
            await log.remove(session_id)
            print(
                f"moved {session_id} to the trash; `moot sessions restore {session_id}` brings it back", file=sys.stderr
            )
    return exits.OK


async def confirm(question: str) -> bool:
    """Ask a person; the default is no. Raises UsageError if there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--forever deletes for good; add --yes, as there is no terminal to ask at")
    print(question, end="", file=sys.stderr, flush=True)
    return (await asyncio.to_thread(sys.stdin.readline)).strip().lower() in ("y", "yes", "是")


async def take(options: Namespace) -> int:
    """take the work: into your files, into your branch, as a branch; or discard it, which asks first"""
    is_asked = options.how == "discard" and not options.yes and sys.stdin.isatty() and sys.stderr.isatty()
    if is_asked and not await confirm(f"throw away the work of {options.id} that nobody has taken? [y/N] "):
        return exits.FAILED
    return await take_work(options)


async def restore(options: Namespace) -> int:
    """take a session out of the trash"""
    async with changing(options, find_existing(options)) as log:
        ids = [listing.session_id for listing in await log.sessions(removed=True)]
        if not any(session_id.startswith(options.id) for session_id in ids):
            live = [listing.session_id for listing in await log.sessions() if listing.session_id.startswith(options.id)]
            hint = f"{live[0]} is not in the trash" if live else f"no session {options.id!r} in the trash"
            raise NotFound(f"{hint}; `moot sessions list --removed` shows what is")
        session_id = pick_session_id(ids, options.id)
        await log.restore(session_id)
        print(f"{session_id} is in the list again", file=sys.stderr)
    return exits.OK


async def rename(options: Namespace) -> int:
    """call a session something else; everybody sees it"""
    if options.connect:
        from moot.cli.remote import connected  # here, because only --connect needs it

        async with connected(options) as client:
            ids = [str(entry["session_id"]) for entry in await client.sessions()]
            await client.command("user.rename", {"title": options.title}, pick_session_id(ids, options.id))
        return exits.OK
    async with changing(options, find_existing(options)) as log:
        await log.rename((await find(log, options.id)).session_id, options.title)
    return exits.OK


async def fork(options: Namespace) -> int:
    """start a new session from any event of another: the same until there, then its own"""
    async with changing(options, find_existing(options)) as log:
        source = await find(log, options.id)
        at = source.head.seq if options.at is None else check_seq(source, options.at)
        work = WorkChanges(log, find_trees_folder())
        recorded = await work.find_recorded(source.session_id, at) if options.with_work else {}
        with Progress(f"copying {source.session_id}", at) as progress:
            copy = await log.fork(source.session_id, at, progress.advance)
        await work.fork(source.session_id, copy, recorded)
        if not options.with_work and await find_recorded(log, source.session_id, at):
            print("without the files that members had by then; --with-work takes them along", file=sys.stderr)
        print(copy)
    return exits.OK


async def import_file(options: Namespace) -> int:
    """take in a session that was exported as jsonl: checked, under a new id; nothing of it is run"""
    with open_twice(options.file) as file:
        with Progress(f"reading {options.file}") as progress:
            checked = check_export(file, progress.advance)
        file.seek(0)
        async with changing(options, find_sessions(options)) as log:
            with Progress(f"importing {options.file}", checked.events) as progress:
                session_id = await log.import_file(file, checked, progress.advance)
    print(session_id)
    return exits.OK


def check_seq(listing: Listing, seq: int) -> int:
    if not 1 <= seq <= listing.head.seq:
        raise NotFound(f"session {listing.session_id} has events 1 to {listing.head.seq}; there is no {seq}")
    return seq


LOCAL = ("rm", "restore", "fork", "import", "open")  # not with --connect: they need the store itself, or its folders
CHANGES = (*LOCAL, "rename", "take", "diff")  # without --json
ACTIONS = {
    "list": list_sessions,
    "search": search_sessions,
    "show": show,
    "export": export,
    "replay": replay,
    "verify": verify_sessions,
    "fork": fork,
    "diff": show_diff,
    "open": open_tree,
    "take": take,
    "import": import_file,
    "rename": rename,
    "rm": remove,
    "restore": restore,
}
