"""What `moot doctor` says of the trees that members work in, and what `--repair` and `--prune` do about them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

from moot.cli.checks import Check
from moot.cli.progress import Progress
from moot.core.errors import Locked, LogError, MootError
from moot.core.machines.session import Status
from moot.core.session.state import State
from moot.runtime.ports import Store
from moot.runtime.snapshots import load_state
from moot.runtime.workspaces import housekeeping
from moot.runtime.workspaces.housekeeping import FoundTrees

MEGABYTE = 1_048_576
Standing = Literal["open", "untaken", "unmerged", "over", "unknown"]


async def check_trees(store: Store, root: Path, *, does_repair: bool, does_prune: bool) -> AsyncIterator[Check]:
    """List the trees of all sessions; repair what is half made, remove what nobody needs."""
    with Progress("looking at trees"):
        found = await asyncio.to_thread(lambda: list(housekeeping.find_all(root)))
    does_repair = does_repair and not await _is_held(store)  # a tree that is set up now looks half made
    standings = await _find_standings(store, [each.session_id for each in found])
    for each in found:
        yield await _check(each, standings.get(each.session_id, "unknown"), root, does_repair, does_prune)
    strays = await asyncio.to_thread(housekeeping.find_stray_refs, Path.cwd(), root)
    if strays and does_prune:
        await asyncio.to_thread(housekeeping.remove_refs, Path.cwd(), strays)
        yield Check(name="refs", status="ok", says=f"removed {len(strays)} of sessions whose trees are gone")
    elif strays:
        says = f"this repository keeps {len(strays)} for sessions whose trees are gone: {', '.join(strays[:3])}"
        yield Check(name="refs", status="note", says=says, fix="`moot doctor --prune` removes them")
    if not found:
        yield Check(name="trees", status="ok", says="none")


async def _is_held(store: Store) -> bool:
    """Whether another process works with the sessions."""
    if not store.exists():
        return False
    try:
        log = await store.open()
    except LogError as error:
        return isinstance(error, Locked)
    await log.close()
    return False


async def _find_standings(store: Store, session_ids: list[str]) -> dict[str, Standing]:
    """Return how far each of these sessions is, for those that the store has."""
    if not store.exists() or not session_ids:
        return {}
    standings: dict[str, Standing] = {}
    try:
        log = await store.open(read_only=True)
    except LogError:  # already reported
        return {}
    try:
        known = {each.session_id for trash in (False, True) for each in await log.sessions(removed=trash)}
        for session_id in known.intersection(session_ids):
            try:
                state, _ = await load_state(log, session_id)
            except LogError:
                standings[session_id] = "open"  # damaged: its trees are not touched
                continue
            standings[session_id] = _find_standing(state)
    except LogError:  # the list is damaged: any of them may be there
        return dict.fromkeys(session_ids, "open")
    finally:
        await log.close()
    return standings


def _find_standing(state: State) -> Standing:
    if state.status is not Status.COMPLETED:
        return "open"
    if state.workspace.has_work:
        return "untaken"
    return "unmerged" if state.workspace.unmerged else "over"


async def _check(found: FoundTrees, standing: Standing, root: Path, does_repair: bool, does_prune: bool) -> Check:
    if found.problem:
        says = f"git cannot read them: {found.problem.splitlines()[0]}"
        return _tell(found, "note", says, f"is their repository gone? remove them yourself: rm -r {found.folder}")
    try:
        if found.half_made and does_repair and not found.is_busy:
            await asyncio.to_thread(housekeeping.repair, root, found)
            return _tell(found, "ok", f"repaired {', '.join(found.half_made)}")
        if does_prune and not _find_reason_to_keep(found, standing):
            await asyncio.to_thread(housekeeping.remove, root, found.session_id)
            return _tell(found, "ok", "removed")
    except MootError as error:
        return _tell(found, "fail", str(error))
    if found.is_busy:
        return _tell(found, "ok", "in use now")
    if found.half_made:
        fix = "it is finished when the session goes on; or: moot doctor --repair"
        return _tell(found, "note", f"half made: {', '.join(found.half_made[:5])}", fix)
    reason = _find_reason_to_keep(found, standing)
    if not reason:
        return _tell(found, "note", "nobody needs them any more", "`moot doctor --prune` removes them")
    return _tell(found, "ok" if standing == "open" else "note", reason, _find_fix(found, standing))


def _find_reason_to_keep(found: FoundTrees, standing: Standing) -> str:
    """Return why trees must not be removed; empty if they may. Work is never removed unless its session says so."""
    if found.is_busy:
        return "in use now"
    if standing == "open":
        return "its session is open"
    if found.unsaved:
        return f"files that no commit has in {', '.join(found.unsaved)}"
    if standing == "untaken":
        return "its session is over and nobody has taken the work"
    if standing == "unmerged":
        return "its session is over, and work of a task is not part of the whole"
    if standing == "unknown" and found.has_work:
        return "work of a session that is not in this store"
    return ""


def _find_fix(found: FoundTrees, standing: Standing) -> str:
    if standing == "untaken":
        return f"`moot sessions take {found.session_id} --keep` makes a branch of it, --discard throws it away"
    if standing == "unmerged":
        return (
            f"`moot sessions diff {found.session_id} --task TASK` shows it, `take {found.session_id} --discard` ends it"
        )
    if standing == "over":
        return f"save what you need of them, then remove the trees yourself: rm -r {found.folder}"
    if standing == "unknown":
        return f"name its store by --data; or remove it yourself: rm -r {found.folder}"
    return ""


def _tell(found: FoundTrees, status: Literal["ok", "note", "fail"], says: str, fix: str = "") -> Check:
    names = f" ({', '.join(found.trees[:5])}{', …' if len(found.trees) > 5 else ''})" if found.trees else ""
    told = f"{found.session_id}{names}, {found.size / MEGABYTE:,.1f} MB: {says}"
    return Check(name="trees", status=status, says=told, fix=fix)
