"""Which member does what in a plan: planner, reviewer, aggregator, and the slot for a task."""

from collections.abc import Sequence

from moot.core.flows.plan.plan_state import Slots, TaskRun, Work
from moot.core.flows.plan.tasks import candidates, has_role
from moot.core.machines.agent import AGENT
from moot.core.machines.agent import State as Slot
from moot.core.session.team import Member, Team

_FREE = (Slot.IDLE, Slot.ERROR, Slot.BREAKER_OPEN)


def planner(team: Team) -> Member:
    """Return the planner; without one, the first AI that does not review."""
    others = (member for member in team.ais if not has_role(member, "reviewer"))
    return _with_role(team, "planner") or next(others, team.ais[0])


def reviewer(team: Team, author: str) -> Member | None:
    """Return who reviews what `author` made, None if nobody does: no member reviews its own work."""
    return _with_role(team, "reviewer", except_for=author)


def aggregator(team: Team) -> Member:
    return _with_role(team, "aggregator") or planner(team)


def _with_role(team: Team, role: str, *, except_for: str = "") -> Member | None:
    return next((member for member in team.ais if has_role(member, role) and member.id != except_for), None)


def rank_candidates(run: TaskRun, work: Work, team: Team) -> list[Member]:
    """Return the members that may be offered the task, sorted by their refusals of it and by their running tasks."""
    if run.given_to:
        return [team.member(run.given_to)]
    choice = candidates(run.task, team)
    if len(choice) < 2:
        return choice
    busy = [work.tasks[task_id].member for task_id in work.dispatches.values()]
    return sorted(choice, key=lambda member: (run.refused_by.count(member.id), busy.count(member.id)))


def find_slot(run: TaskRun, work: Work, team: Team) -> tuple[Member, str] | None:
    """Return the first free slot for the task; None if all are busy or their breaker is open."""
    for member in rank_candidates(run, work, team):
        slots = work.slots.get(member.id)
        if slots is not None and slots.is_open and not slots.may_probe:
            continue
        slot = _free_slot(member, slots, work, team)
        if slot:
            return member, slot
    return None


def _free_slot(member: Member, slots: Slots | None, work: Work, team: Team) -> str | None:
    states = slots.states if slots else {}
    taken: Sequence[str] = [work.tasks[task_id].agent_id for task_id in work.dispatches.values()]
    for number in range(1, (member.concurrency or team.plan.max_parallel) + 1):
        name = f"{member.id}#{number}"
        if name not in taken and states.get(name, AGENT.initial) in _FREE:
            return name
    return None
