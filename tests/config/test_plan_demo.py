"""The built-in team of the plan flow: what people meet first is sound."""

from moot.agents.script import ScriptAgent
from moot.config.loading import list_built_in_teams, load_team
from moot.core.flows.plan import staffing
from moot.core.flows.plan.tasks import read_tasks


def test_it_is_built_in_and_whole() -> None:
    """A built-in team needs no key and starts no program; every role of the flow is played."""
    assert "plan-demo" in list_built_in_teams()
    file = load_team("plan-demo")
    team = file.team()
    assert all(isinstance(spec, ScriptAgent) for spec in file.agents().values())
    assert (staffing.planner(team).id, staffing.aggregator(team).id) == ("nora", "leo")
    assert staffing.reviewer(team, "") == team.member("iris")
    assert [each.id for each in team.ais if each.role == "executor"] == ["ben", "mia"]


def test_its_plans_can_be_run() -> None:
    """What the scripted planner returns meets the rules that every plan must."""
    file = load_team("plan-demo")
    script = file.member("nora").agent
    assert isinstance(script, ScriptAgent)
    plans = [entry.plan for entry in script.replies if not isinstance(entry, str) and entry.plan]
    assert [len(read_tasks(plan.tasks, file.team())) for plan in plans] == [3, 4, 1]
