"""A log of the plan flow that an earlier version wrote still decodes, verifies and folds to the same state.

`python -m tests.core.test_plan_golden` from the root of the repository writes the newest file anew. Do that only for a
version that was never released; afterwards a new kind of log is a new file with the next number, and the old ones stay.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
import pytest
from msgspec.structs import replace

from moot.core import states
from moot.core.codec import Event, Head, chain, decode, frame, stamp
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.plan.plan_commands import EndGrace, ProbeMember, Replan
from moot.core.flows.plan.plan_events import PLAN_FACTS, TaskSentBack, TasksTakeTurns
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.registry import show
from moot.core.intake.intent import Deltas, PlanPatch, TaskRelationAssessment
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CancelTurn, Command, Pause, Post, ReportStep, Resume
from moot.core.session.events import NoticePosted, StepAsked, UnderstandingCompleted, UnderstandingStarted
from moot.core.session.state import State
from moot.core.session.team import Language, Team, member
from moot.testing import PlanScenario, control, task
from moot.testing.scenario import AT
from tests.core.teams import fold, only

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
SESSION_IDS = {"plan-v1": "golden-plan-v1", "plan-v2": "golden-plan-v2"}  # by the name of the file

TEAM = Team(
    name="golden",
    flow="plan",
    language="zh",
    members=(
        member("alice", "human", name="Alice", display_name="爱丽丝"),
        member("adam", "human", name="Adam", position=1),
        member("planner", "ai", role="planner", position=2),
        member("critic", "ai", role="reviewer", position=3),
        member("editor", "ai", role="aggregator", position=4),
        member("wu", "ai", role="executor", position=5, concurrency=2),
        member("xi", "ai", role="painter", position=6),
    ),
    understanding="rules",
    plan=PlanSettings(max_parallel=3, retry=Retry(max_attempts=9), max_rework=1),
)
JUDGED = TaskRelationAssessment(
    relation_type="same_task_minor_change",
    reasoning="a word",
    confidence=0.9,
    assessment=Deltas(
        goal_similarity=0.9,
        scope_delta="none",
        constraint_delta="minor",
        deliverable_delta="none",
        resource_impact="none",
        timeline_impact="none",
    ),
    recommended_action="minor_replan",
)


class Accepted(PlanScenario):
    """A story of which every command is accepted."""

    def when(self, *commands: Command, at: str = AT, chance: float = 1.0) -> Self:
        for command in commands:
            super().when(command, at=at, chance=chance)
            assert self.refusal is None, f"{command}: {self.refusal}"
        return self


def play() -> PlanScenario:
    """Everything that can happen, once."""
    scenario = Accepted(TEAM)
    _plan(scenario)
    _solve(scenario)
    _steer(scenario)
    _end(scenario)
    return scenario


def _plan(scenario: PlanScenario) -> None:
    """Asked about, planned badly, planned again, edited and approved."""
    scenario.says("写一份报告", by="alice").understands("different_task", clarification="给谁看？")
    scenario.answers("", answer="给老板", by="alice").understands("different_task")
    scenario.when(ReportStep(turn_id=scenario.turn("plan").turn_id, thought="先想一想"))
    scenario.plans(task("a", "b")).job_fails("plan", "network", "连接断开").waits()
    scenario.plans(task("a"), summary="第一版").says("再短一点", by="adam").understands("same_task_major_change")
    scenario.plans(task("a"), task("b", "a"), task("c"), task("d", role="painter"), summary="第二版")
    edited = (task("a", objective="写提纲", 语气="正式"), task("b", "a"), task("c"), task("d", role="painter"))
    scenario.approves(tasks=edited, by="alice")


def _solve(scenario: PlanScenario) -> None:
    """A handshake that fails, a run that fails, a review that rejects, a worker that is lost, a breaker."""
    scenario.nacks("a", "busy").waits().starts("a").steps("a", "看资料", total=2)
    scenario.task_fails("a", "timeout", "太慢").waits().completes("a", "提纲")
    scenario.reviews("a", passes=False, feedback="太长").completes("a", "短提纲").reviews("a", passes=True)
    scenario.starts("c").loses_lease("c").completes("c", "C").reviews("c", passes=True)
    for _ in range(5):
        scenario.nacks("d", "no_resource").waits()
    scenario.when(ProbeMember(member="xi")).task_fails("d", "auth", "check key NAME")
    scenario.answers("task_failed", "reassign", answer="wu", by="alice").task_fails("d", "auth", "check key NAME")
    scenario.answers("task_failed", "skip", by="adam")


def _steer(scenario: PlanScenario) -> None:
    """Patched by the rules and by the planner, paused, asked about, put off, in English from here on."""
    patches = (PlanPatch(op="modify", task_id="b", changes={"title": "Bee"}),)
    scenario.starts("b").says("改标题", by="alice")
    scenario.understands("same_task_minor_change", 0.9, plan_patches=patches, assessment=JUDGED)
    scenario.when(Post(text="/lang en", by="alice")).says("and an index", by="adam")
    scenario.understands("same_task_minor_change").patches({"op": "explode"})
    scenario.patches({"op": "add", "task_id": "e", "changes": {"title": "Index", "depends_on": ["b"]}})
    scenario.starts("b").when(Pause(by="adam"), EndGrace()).says("how far?", by="adam")
    scenario.understands(control("status_query")).when(Resume(by="adam"))
    scenario.says("a poem", by="adam").understands("different_task").answers("ask_new_task", "finish_first", by="adam")
    scenario.says("hm", by="alice").understands("same_task_no_change", 0.3).answers("ask_unsure", "drop", by="alice")
    scenario.completes("b", "B").reviews("b", passes=True).when(Replan(feedback="add pictures", by="alice"))
    plan = [run.task.document for run in scenario.work.tasks.values()]
    scenario.plans(*plan, task("p", "b"), summary="with pictures").approves(by="alice")


def _end(scenario: PlanScenario) -> None:
    """Complete, the deferred one cancelled, another one rejected, and the last one ended with the session."""
    for task_id in ("e", "p"):
        scenario.completes(task_id, task_id.upper()).reviews(task_id, passes=True)
    scenario.aggregates('all of it: "quoted" \\ back\u2028slash').plans(task("a")).approves(by="adam")
    scenario.starts("a").when(CancelTurn(by="adam"))
    scenario.says("a song", by="alice").understands("different_task").plans(task("a")).rejects(by="alice")
    scenario.says("a play", by="alice").understands("different_task").plans(task("a")).approves(by="alice")
    scenario.says("thanks [DONE]", by="alice")


def play_v2() -> PlanScenario:
    """What the first version did not have: reviews of the plan and of the answer, doubts about a plan, a goal that
    changes."""
    scenario = Accepted(replace(TEAM, plan=replace(TEAM.plan, review=True, final_review=True)))
    scenario.says("写一份报告", by="alice").understands("different_task").plans(task("a"))
    scenario.reviews_plan(passes=False, feedback="太短").plans(task("a"), task("b", "a")).reviews_plan(passes=True)
    scenario.approves(by="alice").task_fails("a", "auth", "check key NAME").evaluates("ask", "不确定")
    scenario.answers("task_failed", "retry", by="alice").starts("a").says("改成做一首诗", by="alice")
    scenario.understands("same_task_major_change").evaluates("replan", "目标变了").plans(task("c")).reviews_plan(
        passes=True
    )
    scenario.approves(by="alice").completes("c").reviews("c", passes=True).aggregates("半首诗")
    scenario.reviews_answer(passes=False, feedback="没写完").aggregates("一首诗").reviews_answer(passes=True)
    return scenario


def write(name: str, played: PlanScenario) -> None:
    """One frame a line, in the language of the moment, and the final state."""
    now: State | None = None
    head, lines = Head(), []
    for number, fact in enumerate(played.facts):
        now = evolve(now, fact)
        at = f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z"
        (event,) = stamp(TEAM, SESSION_IDS[name], head, [fact], at)
        head = event.head
        lines.append(frame(event, now.language))
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (GOLDEN / f"{name}.state.json").write_bytes(msgspec.json.format(states.encode(played.state)) + b"\n")


def read(name: str) -> Iterator[Event]:
    """The frames of the file, back to stored bytes: what the encoder added at their end is taken off."""
    for line in (GOLDEN / f"{name}.jsonl").read_bytes().splitlines():
        sent = msgspec.json.decode(line)
        adds_content = sent["event"] == "plan.completed" or ("tasks" in sent["metadata"] and "step_id" in sent)
        kept = ("content", "show_content", "hash") if adds_content and "content" in sent else ("show_content", "hash")
        tail = b"," + msgspec.json.encode({key: sent[key] for key in kept if key in sent})[1:]
        assert line.endswith(tail)
        yield decode(line.removesuffix(tail) + b"}", sent["hash"])


each_log = pytest.mark.parametrize("name", SESSION_IDS)


@each_log
def test_the_golden_plan_decodes_and_its_chain_verifies(name: str) -> None:
    """Dense seq, and every hash follows from the one before."""
    previous = ""
    for number, event in enumerate(read(name), start=1):
        previous = chain(previous, event.data)
        assert (event.seq, event.hash, event.session_id) == (number, previous, SESSION_IDS[name])


@each_log
def test_the_golden_plan_is_still_written_the_same_way(name: str) -> None:
    """One encoding; only the first event may gain settings that did not exist then."""
    first, *rest = read(name)
    head = first.head
    for event in rest:
        (again,) = stamp(TEAM, SESSION_IDS[name], head, [event.fact], event.timestamp)
        assert again == event
        head = again.head


@each_log
def test_the_golden_plan_folds_to_the_golden_state(name: str) -> None:
    """The same log gives the same state, version after version."""
    folded = fold(event.fact for event in read(name))
    assert folded == states.decode((GOLDEN / f"{name}.state.json").read_bytes())
    assert states.decode(states.encode(folded)) == folded


def test_the_golden_plans_have_every_event_of_the_flow() -> None:
    """A kind of event that is in none of them would not be protected."""
    seen = {event.name for name in SESSION_IDS for event in read(name)}
    kinds: tuple[type[Fact], ...] = (*PLAN_FACTS, UnderstandingStarted, UnderstandingCompleted, StepAsked)
    seen |= {
        TaskSentBack.event,
        TasksTakeTurns.event,
    }  # only of members that edit: test_workspace*.py
    assert {kind.event for kind in kinds} - seen == set()


@each_log
@pytest.mark.parametrize("language", ["zh", "en"])
def test_everything_the_golden_plan_says_can_still_be_shown(language: Language, name: str) -> None:
    """Codes are stable; what was logged once is rendered for ever."""
    facts = [event.fact for event in read(name)]
    told: list[Fact] = [*only(facts, NoticePosted), *only(facts, StepAsked)]
    assert all(show(fact, language) for fact in told)


def test_the_stories_still_reach_their_ends() -> None:
    """The rules of today play the same stories: every command of them is still accepted."""
    played = play()
    assert played.work.status is Flow.FAILED
    assert [fact.event for fact in played.facts][-1] == "session.completed"
    assert play_v2().work.status is Flow.COMPLETED


if __name__ == "__main__":
    write("plan-v2", play_v2())
