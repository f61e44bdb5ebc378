"""The texts that go with the frames of the plan flow: what the timeline shows of each step, in both languages."""

import pytest

from moot.core.facts import Fact
from moot.core.flows.registry import show
from moot.core.session.commands import ReportStep
from moot.core.session.team import Language
from moot.testing import PlanScenario, task
from tests.core.plan_teams import GATED, planned, solving


def told(scenario: PlanScenario, event: str, language: Language = "zh") -> str | None:
    """The text of the last fact with this name."""
    facts: list[Fact] = [fact for fact in scenario.facts if fact.event == event]
    return show(facts[-1], language)


def test_each_step_of_a_run_has_its_text() -> None:
    """From understanding to the review, in the words that people know from the timeline."""
    scenario = solving(GATED, task("a"), task("b"))
    assert told(scenario, "understanding.started") == "正在理解用户意图..."
    assert told(scenario, "understanding.completed") == "◦ 理解为新任务（把握 95%）：a test says so"
    assert told(scenario, "workflow.changed") == "进入阶段：执行中"
    assert told(scenario, "task.dispatch_requested") == "编排器派发任务到 moot-executor.executor"
    assert told(scenario.acks("a"), "task.dispatch_acked") == "接单成功"
    assert told(scenario.starts("a"), "solver.start") == "开始执行"
    assert told(scenario.steps("a", "查资料"), "solver.progress") == "思考：查资料"
    assert told(scenario.completes("a"), "solver.completed") == "执行成功"
    assert told(scenario.reviews("a", passes=False, feedback="太长"), "task.reviewed") == "驳回：太长"
    assert told(scenario.completes("a").reviews("a", passes=True), "task.reviewed") == "审核通过"
    assert told(scenario.nacks("b", "busy"), "task.dispatch_nacked") == "派发失败：busy"
    assert told(scenario.waits().task_fails("b", "network", "断开"), "task.failed") == "执行失败：断开"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_action_and_an_observation_are_named(language: Language) -> None:
    """A step shows what it is: a thought, an action, an observation."""
    scenario = solving(GATED, task("a")).starts("a")
    turn_id = scenario.dispatch_id("a")
    scenario.when(ReportStep(turn_id=turn_id, action="open the file", observation="it is empty"))
    words = {"zh": "行动：open the file\n观察：it is empty", "en": "Action: open the file\nObservation: it is empty"}
    assert told(scenario, "solver.progress", language) == words[language]


def test_english_twins() -> None:
    """Each text has an English one."""
    scenario = solving(GATED, task("a")).starts("a").completes("a").reviews("a", passes=True)
    events = ("understanding.started", "task.dispatch_requested", "task.dispatch_acked", "solver.start")
    assert [told(scenario, event, "en") for event in (*events, "solver.completed", "task.reviewed")] == [
        "Understanding what you mean…",
        "The orchestrator dispatches a task to moot-executor.executor",
        "Accepted",
        "Started",
        "Succeeded",
        "Review passed",
    ]
    assert told(planned(), "workflow.changed", "en") == "Phase: waiting for a decision"
