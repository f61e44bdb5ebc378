"""The commands with which a person goes on with a member's conversation in the agent's own program."""

import shlex
from collections.abc import Iterator

from moot.agents.cli.memory import Conversations
from moot.core.session.team import Kind
from moot.core.texts import render
from moot.core.view import View
from moot.runtime.ports import Takeover


def list_takeovers(conversations: Conversations, session_id: str, view: View) -> Iterator[Takeover]:
    """Yield each conversation that can be opened, with its command: `cd project && claude --resume ID`."""
    tasks = view.work.tasks if view.work else ()
    for member in view.members:
        for task in ("", *tasks) if member.kind is Kind.AI else ():
            conversation = conversations.find_takeover(session_id, member.id, task)
            if conversation:
                place = f"cd {shlex.quote(conversation.folder)} && " if conversation.folder else ""
                command = f"{place}{shlex.join(conversation.takeover)}"
                yield Takeover(member=member.id, task_id=task, command=command)


def describe_takeover(view: View, takeover: Takeover) -> str:
    """Return a line for people, in the language of the session."""
    who = " · ".join(filter(None, (view.name(takeover.member), takeover.task_id)))
    return render("takeover", view.language, who=who, detail=takeover.command)
