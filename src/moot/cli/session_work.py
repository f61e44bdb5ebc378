"""What `moot sessions` does with the files of a session: shows, opens and takes them."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from moot.cli import exits
from moot.cli.attaching import find_holder
from moot.cli.data import data_folder
from moot.cli.reading import find, find_existing, reading
from moot.cli.run import pick_session_id
from moot.config.own_folders import find_trees_folder
from moot.core.codec import Head, stamp
from moot.core.decide import decide
from moot.core.effects import UseWorkspace
from moot.core.errors import ConfigError, Locked
from moot.core.outstanding import outstanding
from moot.core.session.commands import Command
from moot.core.session.state import State
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.session.workspace import FileChange, TakeHow
from moot.core.session.workspace_commands import RemoveTrees, Take, TakeWork, UndoWork
from moot.core.session.workspace_events import WorkspaceFailed, WorkspaceTaken
from moot.core.session.workspace_view import Changes, FileDiff
from moot.runtime.clock import SystemClock
from moot.runtime.cluster import log_version_of
from moot.runtime.ports import Log, Store
from moot.runtime.snapshots import READ_EVENTS, load_state
from moot.runtime.summaries import summarise
from moot.runtime.workspaces.git_workspaces import GitWorkspaces, Worksite
from moot.runtime.workspaces.trees import Settings
from moot.runtime.workspaces.work_changes import WorkChanges, find_tree, open_trees

if TYPE_CHECKING:
    from moot.client.rest import Rest

LOOK_S = 0.1  # how often a server is asked whether it has taken the work
HOWS = ("apply", "merge", "keep", "discard")


async def show_diff(options: Namespace) -> int:
    """show what the session changed, or one task or turn of it, as a unified diff"""
    turn = f"t{options.turn}" if options.turn and options.turn.isdigit() else options.turn
    part = {"task": options.task, "turn": turn}
    if options.connect:
        from moot.cli.remote import connected  # here, because only --connect needs it

        async with connected(options) as client:
            ids = [str(entry["session_id"]) for entry in await client.sessions()]
            session_id = pick_session_id(ids, options.id)
            files = [file async for file in _list_files(partial(client.changes, session_id, **part))]
            if options.stat:
                _print_files(files)
            else:
                await _print_diffs(files, partial(client.diff, session_id, **part))
        return exits.OK
    async with reading(options) as log:
        session_id = (await find(log, options.id)).session_id
        work = WorkChanges(log, find_trees_folder())
        if options.stat:
            _print_files([file async for file in _list_files(partial(work.list_files, session_id, **part))])
        else:
            sys.stdout.write(await work.read_patch(session_id, language=DEFAULT_LANGUAGE, **part))
    return exits.OK


async def _list_files(read: Callable[..., Awaitable[Changes]]) -> AsyncIterator[FileChange]:
    """Yield the files of all pages."""
    offset: int | None = 0
    while offset is not None:
        page = await read(offset=offset)
        for file in page.files:
            yield file
        offset = page.next_offset


def _print_files(files: Sequence[FileChange]) -> None:
    for file in files:
        counts = "binary" if file.is_binary else f"+{file.added} −{file.removed}"
        print(f"{file.status:9} {counts:>12}  {file.path}" + (f" (was {file.was})" if file.was else ""))
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    print(f"{len(files)} {'file' if len(files) == 1 else 'files'}, +{added} −{removed}")


async def _print_diffs(files: Sequence[FileChange], read: Callable[..., Awaitable[FileDiff]]) -> None:
    for file in files:
        offset: int | None = 0
        while offset is not None:
            page = await read(path=file.path, offset=offset)
            sys.stdout.write(page.text)
            offset = page.next_offset


async def open_tree(options: Namespace) -> int:
    """print the folder of the session's tree, or of a task's"""
    async with reading(options) as log:
        session_id = (await find(log, options.id)).session_id
    print(find_tree(find_trees_folder(), session_id, options.task))
    return exits.OK


async def take_work(options: Namespace) -> int:
    """Take the work of a session, here or through the process that holds it. Raises ConfigError if it does not fit."""
    if options.connect:
        from moot.cli.remote import RemoteLog, address_of  # here, because only --connect needs it
        from moot.client.rest import Rest

        rest = Rest(address_of(options))
        failure = await _take_there(rest, (await find(RemoteLog(rest), options.id)).session_id, options.how)
    else:
        failure = await _take_from(find_existing(options), options)
    if failure:
        raise ConfigError(f"nothing was taken: {failure}")
    return exits.OK


async def _take_from(store: Store, options: Namespace) -> str:
    """Take the work of a session in this store, through the process that holds it if there is one."""
    try:
        log = await store.open()
    except Locked:
        from moot.cli.remote import RemoteLog  # here, because the store is mostly free

        holder = await find_holder(data_folder(options), store)
        if holder is None:
            raise
        session_id = (await find(RemoteLog(holder.rest), options.id)).session_id
        return await _take_there(holder.rest, session_id, options.how)
    try:
        return await _take(log, (await find(log, options.id)).session_id, options.how)
    finally:
        await log.close()


async def _take_there(rest: "Rest", session_id: str, how: str) -> str:
    """Have a server take the work and wait until it has. Returns why it could not be done, if so."""
    sent = {"event": "user.take", "metadata": {"how": how}}
    accepted = msgspec.json.decode(await rest.ask("POST", f"/api/sessions/{session_id}/commands", sent))
    after = int(accepted["metadata"]["seq"])
    while True:
        frames = [msgspec.json.decode(frame) for frame in await rest.events(session_id, after, READ_EVENTS)]
        for frame in frames:
            after = frame["seq"]
            if frame["event"] == WorkspaceTaken.event:
                return ""
            if frame["event"] == WorkspaceFailed.event and frame["metadata"]["what"] == "take":
                return str(frame["metadata"]["detail"])
        if not frames:
            await asyncio.sleep(LOOK_S)


async def _take(log: Log, session_id: str, how: TakeHow) -> str:
    """Log the request, have git do it, log the end. Returns why it could not be done, if so.

    What was asked for before and interrupted is finished first.
    """
    state, head = await load_state(log, session_id)
    trees = open_trees(find_trees_folder(), session_id)
    site = Worksite(top=trees.repository.top, settings=Settings(), run_command=_run_nothing)
    workspaces = GitWorkspaces(find_trees_folder(), {state.team.name: site}, _spawn_nothing, log)
    pending = state.workspace.pending
    commands = await _do_next(workspaces, state, session_id) if pending else []
    wanted: list[Command] = [] if pending and pending.how == how else [Take(how=how)]
    failure = ""
    while commands or wanted:
        at = SystemClock().now()
        decided = decide(state, (commands or wanted).pop(0), at, log_version=log_version_of(log))
        events = stamp(state.team, session_id, head, decided.facts, at)
        if events:
            await log.append(session_id, head, events, summary=summarise(decided.state))
            state, head = decided.state, Head(events[-1].seq, events[-1].hash)
        failure = next((fact.detail for fact in decided.facts if isinstance(fact, WorkspaceFailed)), failure)
        if failure:
            break
        commands = commands or await _do_next(workspaces, state, session_id)
    return failure


async def _do_next(workspaces: GitWorkspaces, state: State, session_id: str) -> list[Command]:
    """Do what people asked for. Checks and merges of tasks wait for the commands of the team file."""
    effects = [effect for effect in outstanding(state) if isinstance(effect, UseWorkspace)]
    jobs = [effect.job for effect in effects if isinstance(effect.job, TakeWork | UndoWork | RemoveTrees)]
    reports: list[Command] = []

    async def report(*ends: Command) -> None:
        reports.extend(ends)

    for job in jobs[:1]:
        await workspaces.carry_out(job, session_id, state.team.name, report)
    return reports


async def _run_nothing(argv: Sequence[str], folder: Path, clone: Path, timeout_s: float) -> tuple[int, str]:  # noqa: ARG001
    raise ConfigError("taking work runs no commands")


def _spawn_nothing(*_: object) -> None:
    raise ConfigError("taking work spawns nothing")
