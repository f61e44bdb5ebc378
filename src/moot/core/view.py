"""The public projection of a session: what screens, programs and the wire may rely on of its state.

`project` reads the state that `evolve` folded; nothing is folded a second time. The state may change from one version
of Moot to the next. The view changes only with its `version`, except for new fields, which have defaults.

Messages, notices and text that is being streamed are not part of it: they are frames of the log and of the link.
"""

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.facts import Json
from moot.core.flows.flow_settings import DEFAULT_FLOW
from moot.core.flows.registry import FlowParts, flow_of, show
from moot.core.intake.door import LatestInput
from moot.core.machines.input_routing import INPUT_ROUTING
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.session import SESSION, Status
from moot.core.session.events import Option, StepAsked
from moot.core.session.permissions import list_grants
from moot.core.session.state import Parked, State, Turn
from moot.core.session.steps import option_label
from moot.core.session.team import DEFAULT_LANGUAGE, Language, Member, Team
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import Spent
from moot.core.session.workspace_view import WorkspaceView, project_workspace
from moot.core.texts import render

VERSION = 1


class RunningTurn(Struct, frozen=True, kw_only=True):
    """A turn under way. `job` and `task_id` say what it is for, in flows that have jobs."""

    turn_id: str
    member: str
    started_at: str = ""
    job: str = ""
    task_id: str = ""
    tool: ToolUse | None = None  # the last one that it used, or uses now
    question_id: str = ""  # of an aside: the question of a team-mate that it answers


class ParkedTurn(Struct, frozen=True, kw_only=True):
    """A turn or task that waits: until a usage limit is over, or for the answer to a question (`until` is null)."""

    turn_id: str
    member: str
    until: str | None
    reason: str
    message: str = ""


class Question(Struct, frozen=True, kw_only=True):
    """An open step. `text` and the labels of Moot's own options are in the reader's language."""

    step_id: str
    kind: str
    text: str
    options: tuple[Option, ...] = ()
    expires_at: str | None = None
    default: str | None = None
    asked_by: str | None = None
    who: str = ""  # the agent that wants to know, by its name
    code: str = ""
    task_id: str | None = None
    error_type: str = ""
    input: str = ""  # the input that the question is about
    tasks: tuple[Json, ...] | None = None  # of the plan that is to be confirmed
    plan_summary: str = ""
    job: str = ""  # the agent whose question it is, or whose output is to be checked
    key: str = ""
    turn_id: str = ""  # the running turn that waits for the answer
    selection: str = ""  # single, multiple, none: of an agent's question
    allow_custom_input: bool = False
    member: str = ""  # the AI that asks for a permission, or asks people
    tool: ToolUse | None = None  # what the permission is for
    diff: str | None = None


class GrantRow(Struct, frozen=True, kw_only=True):
    """What people decided for the rest of the session about a member. `number` revokes it: `/permissions revoke 1`."""

    number: int
    member: str
    tool: str
    pattern: str
    allowed: bool = True


class DeferredInput(Struct, frozen=True, kw_only=True):
    """Another goal, for when the current work is over."""

    text: str
    member: str


class Counters(Struct, frozen=True, kw_only=True):
    """Since the session began."""

    messages: int = 0
    turns: int = 0
    failed_turns: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class View(FlowParts, frozen=True, kw_only=True):
    """A session as others see it after one event of its log.

    `is_settled`: nothing happens without a human. `is_steered`: people give goals and steer the work, instead of
    talking with the members. `max_hops` is 0 where hops are not counted. `input` is the newest one that was to be
    understood; `input_routing` and `interrupt` are where its machine and that of a pause stand.
    """

    version: int = VERSION
    team: str = ""
    flow: str = DEFAULT_FLOW
    is_steered: bool = False
    title: str = ""
    language: Language = DEFAULT_LANGUAGE
    team_task: str = ""
    members: tuple[Member, ...] = ()
    status: Status = SESSION.initial
    is_settled: bool = False
    waiting_for: str | None = None
    pause_reason: str | None = None
    executing: str | None = None
    pending: tuple[str, ...] = ()  # the queue behind `executing`
    hops: int = 0
    max_hops: int = 0
    questions: tuple[Question, ...] = ()
    running: tuple[RunningTurn, ...] = ()
    parked: tuple[ParkedTurn, ...] = ()
    counters: Counters = Counters()
    spent_by_member: dict[str, Spent] = field(default_factory=dict)  # by the member's id
    input: LatestInput | None = None
    deferred: tuple[DeferredInput, ...] = ()
    grants: tuple[GrantRow, ...] = ()
    workspace: WorkspaceView | None = None  # if the members have trees
    input_routing: str = INPUT_ROUTING.initial
    interrupt: str = INTERRUPT.initial

    def name(self, member_id: str) -> str:
        """Return the display name of a member; the id itself if no member has it."""
        return next((member.display_name for member in self.members if member.id == member_id), member_id)

    @property
    def is_held(self) -> bool:
        """Whether running turns wait for answers of people, and nothing else runs."""
        held = {question.turn_id for question in self.questions if question.turn_id}
        return bool(held) and all(turn.turn_id in held for turn in self.running)

    def queue_line(self, viewer: str | None = None) -> str | None:
        """`📋 Queue: [Claude ⏳] → Bob → You`; None when nothing runs and nothing waits."""

        def name(member_id: str) -> str:
            return render("ui.you", self.language) if member_id == viewer else self.name(member_id)

        acting = (f"[{name(self.executing)} ⏳]",) if self.executing else ()
        names = acting + tuple(name(member_id) for member_id in self.pending)
        return render("queue", self.language, names=names) if names else None


def project(state: State, language: Language | None = None) -> View:
    """Return the view of a state, with texts in `language`, or in the session's own if that is None."""
    team, door, read_in = state.team, state.door, language or state.language
    flow, (executing, pending) = flow_of(state), state.slice.queue
    return View(
        team=team.name,
        flow=team.flow,
        is_steered=flow.is_steered,
        title=state.shown_title,
        language=state.language,
        team_task=state.team_task,
        members=team.members,
        status=state.status,
        is_settled=state.is_settled,
        waiting_for=state.waiting_for,
        pause_reason=state.pause_reason,
        executing=executing,
        pending=pending,
        hops=state.hops,
        max_hops=flow.max_hops(team),
        questions=tuple(_show_question(step, team, read_in) for step in state.open_steps.values()),
        running=tuple(_show_turn(turn) for turn in (*state.running, *state.asides)),
        parked=tuple(
            _show_parked(turn_id, each) for turn_id, each in state.parked.items() if state.is_under_way(turn_id)
        ),
        counters=_count(state),
        spent_by_member=state.spent_by_member,
        input=door.latest,
        deferred=tuple(DeferredInput(text=input_.text, member=input_.member) for input_ in door.deferred),
        grants=tuple(_list_grants(state)),
        workspace=project_workspace(state),
        input_routing=door.state,
        interrupt=state.interrupt,
        **flow.project(state),
    )


def _list_grants(state: State) -> Iterator[GrantRow]:
    for number, (member, grant) in enumerate(list_grants(state), 1):
        yield GrantRow(number=number, member=member, tool=grant.tool, pattern=grant.pattern, allowed=grant.allowed)


def _show_turn(turn: Turn) -> RunningTurn:
    return RunningTurn(
        turn_id=turn.turn_id,
        member=turn.member,
        started_at=turn.started_at,
        job=turn.job,
        task_id=turn.task_id,
        tool=turn.tool,
        question_id=turn.question_id,
    )


def _show_parked(turn_id: str, parked: Parked) -> ParkedTurn:
    return ParkedTurn(
        turn_id=turn_id, member=parked.member, until=parked.until, reason=parked.reason, message=parked.message
    )


def _show_question(step: StepAsked, team: Team, language: Language) -> Question:
    labels = [option_label(step.code, option, team.members, language) for option in step.options]
    return Question(
        step_id=step.step_id,
        kind=step.kind,
        text=show(step, language) or step.kind,
        options=tuple(replace(option, label=label) for option, label in zip(step.options, labels, strict=True)),
        expires_at=step.expires_at,
        default=step.default,
        asked_by=step.asked_by,
        who=step.who,
        code=step.code,
        task_id=step.task_id,
        error_type=step.error_type,
        input=step.input.text if step.input else "",
        tasks=step.tasks,
        plan_summary=step.plan_summary or "",
        job=step.job,
        key=step.key,
        turn_id=step.turn_id,
        selection=step.selection or "",
        allow_custom_input=step.allow_custom_input,
        member=step.member,
        tool=step.tool,
        diff=step.diff,
    )


def _count(state: State) -> Counters:
    spending = state.spent_by_member.values()
    return Counters(
        messages=state.message_count,
        turns=sum(spent.turns for spent in spending),
        failed_turns=state.failed_turns,
        tokens=sum(spent.tokens for spent in spending),
        cost_usd=sum(spent.cost_usd for spent in spending),
    )
