"""`moot db`: the database that several machines share.

The docstrings of the actions are their help texts.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

import msgspec

from moot.cli import exits
from moot.cli.data import add_store_arguments, find_sessions
from moot.cli.parser import read_count
from moot.cli.progress import Progress
from moot.cli.reading import find_existing
from moot.cli.usage import UsageError
from moot.cli.verifying import Verdict, report, tell, verify
from moot.cli.wording import say
from moot.core.codec import Head
from moot.core.errors import Conflict, LogError, NotFound
from moot.runtime.cluster import ClusterStatus, SharedStore
from moot.runtime.ports import Listing, Log
from moot.runtime.stores.store import find_store

COPIED_AT_ONCE = 500  # events


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True, title=say("help.actions"))
    for name, action in {
        "init": init,
        "migrate": migrate,
        "status": show_status,
        "maintain": maintain,
        "copy": copy,
        "verify": verify_all,
    }.items():
        inner = actions.add_parser(name, help=(line := say(f"help.db.{name}")), description=line)
        inner.set_defaults(action=action)
        if name == "copy":
            inner.add_argument("source", metavar="FROM", help=say("help.db.place"))
            inner.add_argument("target", metavar="TO", help=say("help.db.place"))
            inner.add_argument("--session", metavar="ID", action="append", default=[], help=say("help.db.session"))
            continue
        if name == "init":
            inner.add_argument("--after-restore", action="store_true", help=say("help.db.after_restore"))
        if name == "migrate":
            inner.add_argument("--to", type=read_count, metavar="N", help=say("help.db.to"))
        if name in ("status", "verify"):
            inner.add_argument(
                "--json", action="store_true", help=say("help.json" if name == "status" else "help.json_lines")
            )
        add_store_arguments(inner)


async def run(options: Namespace) -> int:
    code: int = await options.action(options)
    return code


async def init(options: Namespace) -> int:
    """make the tables of Moot in an empty database, or bring them to the version of this Moot"""
    store = _find_database(options)
    before = await store.initialise(after_restore=options.after_restore)
    if options.after_restore:
        print(f"{store}: a new lineage; servers may start and take up what is due", file=sys.stderr)
    _tell_version(store, before, store.version)
    return exits.OK


async def migrate(options: Namespace) -> int:
    """bring the tables to the version of this Moot, while servers of the version before go on"""
    store = _find_database(options)
    before = await store.initialise(to=options.to)
    _tell_version(store, before, options.to or store.version)
    return exits.OK


def _tell_version(store: SharedStore, before: int, after: int) -> None:
    if before >= after:
        print(f"{store} has the tables of version {before} already", file=sys.stderr)
        return
    done = f"brought the tables from version {before} to {after}" if before else f"made the tables, version {after}"
    use = "`moot serve --store URL` uses them" if after == store.version else f"this Moot needs version {store.version}"
    print(f"{store}: {done}; {use}", file=sys.stderr)


async def show_status(options: Namespace) -> int:
    """show versions, nodes, what is under way and what an operator must know"""
    store = _find_database(options)
    status = await store.read_status()
    if options.json:
        print(msgspec.json.encode(status).decode())
        return exits.OK
    for line in _describe(status):
        print(line)
    return exits.OK


def _describe(status: ClusterStatus) -> list[str]:
    lines = [
        f"PostgreSQL {status.server}, tables of version {status.version}, {status.partitions} partitions",
        f"{status.sessions} sessions, {status.removed} in the trash; work is due in {status.due}, "
        f"{status.unowned_due} of them without a node that acts",
        f"{status.sync_standbys} synchronous standbys; queue of wake-ups {status.notify_queue_usage:.1%} full; "
        f"oldest transaction {status.oldest_transaction_s:.0f} s",
    ]
    for node in status.nodes:
        lease = f"lease {node.lease_left_s:.0f} s" if node.lease_left_s > 0 else "gone, its lease has run out"
        lines.append(
            f"node {node.id} {node.name}: {lease}, acts for {node.owned}, plays {', '.join(node.teams) or '-'}"
        )
    if len({node.log_version for node in status.nodes}) > 1:
        oldest = min(status.nodes, key=lambda node: node.log_version)
        lines.append(f"new kinds of events wait until {oldest.name} runs a newer Moot")
    lines += [] if status.nodes else ["no node is running"]
    names = {node.id: node.name for node in status.nodes}
    for worker in status.workers:
        host = names.get(worker.host or 0, "one that is gone")
        lines.append(
            f"worker {worker.name}: pool {', '.join(worker.pools)}, connected to {host}, has {worker.jobs} jobs"
        )
    for pool in status.pools:
        if pool.waiting:
            lines.append(f"pool {pool.name}: {pool.waiting} jobs wait for a worker, {pool.workers} are connected")
    return lines


async def maintain(options: Namespace) -> int:
    """make partitions, sweep what was deleted, archive sessions that have been idle for 30 days; for every night"""
    store = _find_database(options)
    done = await store.maintain()
    print(
        f"{store}: swept {done.swept} rows of deleted sessions, archived {done.archived} idle sessions, "
        f"emptied {done.emptied} partitions",
        file=sys.stderr,
    )
    if done.waits_for:
        print(f"archiving waits for {done.waits_for}", file=sys.stderr)
    return exits.OK


async def verify_all(options: Namespace) -> int:
    """read every session and check every hash; changes nothing, so that a standby does; exit 6 if one is damaged"""
    log = await find_existing(options).open(read_only=True)
    try:
        listings, removed = await log.sessions(), await log.sessions(removed=True)
        verdicts: list[Verdict] = []
        with Progress("checking hashes", sum(listing.head.seq for listing in listings)) as progress:
            async for verdict in verify(log, listings, progress):
                verdicts.append(verdict)
                if options.json:
                    progress.print(json.dumps(report(verdict)))
                elif verdict.problem:
                    progress.print(tell(verdict))
    finally:
        await log.close()
    if not options.json:
        print(_sum_up(verdicts, len(removed)))
    return exits.INTEGRITY if any(verdict.is_damaged for verdict in verdicts) else exits.OK


def _sum_up(verdicts: Sequence[Verdict], removed: int) -> str:
    damaged = sum(verdict.is_damaged for verdict in verdicts)
    events = sum(verdict.head.seq for verdict in verdicts)
    found = f"{damaged} damaged, the others are not concerned" if damaged else "every hash is right"
    unread = f"; {removed} in the trash were not read" if removed else ""
    return f"{len(verdicts):,} sessions with {events:,} events: {found}{unread}"


async def copy(options: Namespace) -> int:
    """copy sessions from one store to another, event by event, and check every hash; what is there already goes on"""
    source, target = find_store(options.source), find_store(options.target)
    if not source.exists():
        raise NotFound(f"there are no sessions in {source}")
    reading = await source.open(read_only=True)
    try:
        writing = await target.open()
        try:
            return await _copy_all(reading, writing, options.session)
        finally:
            await writing.close()
    finally:
        await reading.close()


async def _copy_all(reading: Log, writing: Log, wanted: list[str]) -> int:
    listings = [*await reading.sessions(), *await reading.sessions(removed=True)]
    unknown = set(wanted) - {listing.session_id for listing in listings}
    if unknown:
        raise NotFound(f"no session {', '.join(sorted(unknown))}")
    failed = copied = 0
    for listing in reversed(listings):  # the newest last, so that lists stand in the same order
        if wanted and listing.session_id not in wanted:
            continue
        if listing.removed_at:
            print(f"{listing.session_id} is in the trash and stays there", file=sys.stderr)
            continue
        try:
            events = await copy_session(reading, writing, listing)
            copied += 1
            print(f"{listing.session_id}: {events} events")
        except LogError as error:
            failed += 1
            print(f"{listing.session_id}: {error}", file=sys.stderr)
    print(f"{copied} sessions are equal in both stores" + (f", {failed} failed" if failed else ""), file=sys.stderr)
    return exits.FAILED if failed else exits.OK


async def copy_session(reading: Log, writing: Log, listing: Listing) -> int:
    """Append what the target lacks; return how many events that were. Raises Conflict if it has another history."""
    session_id = listing.session_id
    try:
        head = await writing.head(session_id)
    except NotFound:
        head = Head()
    if head.seq and (head.seq > listing.head.seq or await _hash_at(reading, session_id, head.seq) != head.hash):
        raise Conflict(f"session {session_id} has another history there; delete it there, or leave it out")
    copied = 0
    while head.seq < listing.head.seq:
        events = await reading.read(session_id, head.seq, min(COPIED_AT_ONCE, listing.head.seq - head.seq))
        if not events:
            break
        is_last = events[-1].seq == listing.head.seq
        # until all is there nobody must go on with it
        summary = listing.summary if is_last else msgspec.structs.replace(listing.summary, busy=False)
        await writing.append(session_id, head, events, summary=summary)
        head = events[-1].head
        copied += len(events)
    if listing.project:
        await writing.set_project(session_id, listing.project)
    if await writing.head(session_id) != listing.head:
        raise Conflict(f"session {session_id} went on while it was copied; copy it again")
    return copied


async def _hash_at(log: Log, session_id: str, seq: int) -> str:
    events = await log.read(session_id, seq - 1, 1)
    return events[0].hash if events else ""


def _find_database(options: Namespace) -> SharedStore:
    store = find_sessions(options)
    if not isinstance(store, SharedStore):
        raise UsageError(
            f"{store} is no database that machines share; name one: --store postgresql://user@host/database"
        )
    return store
