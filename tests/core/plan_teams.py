"""Teams of the plan flow that the tests of the core share."""

from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.session.settings import Budget, UnderstandingType
from moot.core.session.team import Language, Member, Team, member
from moot.testing import PlanScenario, plan_given, task

PLANNER = member("planner", "ai", role="planner", position=10)
REVIEWER = member("critic", "ai", role="reviewer", position=11)
AGGREGATOR = member("editor", "ai", role="aggregator", position=12)


def worker(
    name: str, position: int = 20, *, role: str = "executor", concurrency: int = 0, fallback: tuple[str, ...] = ()
) -> Member:
    return member(name, "ai", role=role, position=position, concurrency=concurrency, fallback=fallback)


def make_plan_team(
    *more: Member,
    humans: tuple[str, ...] = ("alice",),
    language: Language = "en",
    understanding: UnderstandingType = "rules",
    plan: PlanSettings | None = None,
    budget: Budget | None = None,
) -> Team:
    """People, a planner and two workers, or whom you name instead of the workers."""
    people = tuple(member(name, "human", position=position) for position, name in enumerate(humans))
    workers = more or (worker("w1", 20), worker("w2", 21))
    return Team(
        name="plan-team",
        flow="plan",
        language=language,
        members=(*people, PLANNER, *workers),
        understanding=understanding,
        plan=plan or PlanSettings(),
        budget=budget or Budget(),
    )


TEAM = make_plan_team()
PAIR = make_plan_team(humans=("alice", "adam"))
GATED = make_plan_team(worker("w1"), worker("w2", 21), REVIEWER)
EDITED = make_plan_team(worker("w1"), AGGREGATOR)


def retrying(max_attempts: int = 3, base_delay_s: float = 1.0, cap_s: float = 60.0) -> PlanSettings:
    return PlanSettings(retry=Retry(max_attempts=max_attempts, base_delay_s=base_delay_s, cap_s=cap_s))


def planned(team: Team = TEAM, *tasks: object) -> PlanScenario:
    """A plan waits for Alice's confirmation: a, then b and c which depend on it, if no other is given."""
    scenario = plan_given(team).says("write a report", by="alice")
    if team.understanding != "explicit":
        scenario.understands("different_task")
    return scenario.plans(*(tasks or (task("a"), task("b", "a"), task("c", "a"))))


def solving(team: Team = TEAM, *tasks: object) -> PlanScenario:
    """The plan is approved: what can start is offered."""
    return planned(team, *tasks).approves(by="alice")
