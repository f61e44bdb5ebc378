"""A person goes on in the agent's own program with what a member began."""

from pathlib import Path

from msgspec.structs import replace

from moot.agents.cli.memory import Conversations
from moot.agents.cli.takeovers import describe_takeover, list_takeovers
from moot.core.flows.plan.plan_view import TaskRow, Work
from moot.core.session.usage import Usage
from moot.core.view import project
from moot.testing import Scenario
from tests.core.teams import make_chat_team

ID = "3d57e54c-3152-485b-b6dd-cea9331b4f0d"


def test_the_command_opens_the_same_conversation(tmp_path: Path) -> None:
    """Folder and id of each conversation that a member has, those of a plan's tasks too; none for other members."""
    kept = Conversations(tmp_path)
    command = ("claude", "--resume", ID)
    for tree in ("", "t1"):
        kept.keep("s1", "bob", ("claude",), ID, Usage(), tree=tree, takeover=command, folder="/srv/my project")
    tasks = {task_id: TaskRow(task={}) for task_id in ("t1", "t2")}
    view = replace(project(Scenario(make_chat_team()).state), work=Work(tasks=tasks))
    found = list(list_takeovers(Conversations(tmp_path), "s1", view))
    assert [(each.member, each.task_id) for each in found] == [("bob", ""), ("bob", "t1")]
    assert {each.command for each in found} == {f"cd '/srv/my project' && claude --resume {ID}"}
    assert "Bob · t1" in describe_takeover(view, found[1])
    assert list(list_takeovers(kept, "other", view)) == []
