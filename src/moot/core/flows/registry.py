"""The registry of flows. A new flow is a package beside this file; its import and its entry in `FLOWS` register it.

Importing `moot.core` imports this module, so that all flows are always registered.
"""

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from moot.core import envelope, evolve
from moot.core.errors import Refused
from moot.core.fact_lines import Message, Text
from moot.core.facts import Fact
from moot.core.flows.chat.chat_flow import ChatFlow
from moot.core.flows.flow import Flow
from moot.core.flows.plan.plan_flow import PlanFlow
from moot.core.flows.plan.plan_view import Work
from moot.core.flows.supervisor.supervisor_flow import SupervisorFlow
from moot.core.flows.supervisor.supervisor_view import Job
from moot.core.session.events import SESSION_FACTS, SessionCreated
from moot.core.session.session_lines import SESSION_LINES
from moot.core.session.state import State
from moot.core.session.team import Language

FLOWS: dict[str, Flow] = {flow.name: flow for flow in (ChatFlow(), SupervisorFlow(), PlanFlow())}

if TYPE_CHECKING:
    FlowName = str
else:
    FlowName = Literal[tuple(FLOWS)]  # validation and the schema of team files know the names


class FlowParts(Struct, frozen=True, kw_only=True):
    """The part of the public view that belongs to one flow each; None in sessions of other flows."""

    work: Work | None = None
    supervision: Job | None = None


FACTS: tuple[type[Fact], ...] = (*SESSION_FACTS, *(kind for flow in FLOWS.values() for kind in flow.facts))

for _flow in FLOWS.values():
    evolve.learn(_flow)
    SessionCreated.known_flows.add(_flow.name)
    envelope.LEADING_ROLES[_flow.name] = _flow.leading_roles

_covered = {kind for flow in FLOWS.values() for kind in (*flow.lines.lines, *flow.lines.messages, *flow.lines.ignored)}
if _missing := {kind.__name__ for kind in FACTS if kind not in _covered}:
    raise TypeError(f"no lines for {', '.join(sorted(_missing))}; register or ignore them in the lines of their flow")
# A flow's own text of a fact that every flow has holds in all flows: a frame is made without the session's state.
_TEXTS: dict[type, Text[Any]] = SESSION_LINES.texts | {
    kind: text
    for flow in FLOWS.values()
    for kind, text in flow.lines.texts.items()
    if text is not SESSION_LINES.texts.get(kind)
}


def find_flow(name: str) -> Flow:
    """Return the flow of this name. Raises Refused if this version does not have it."""
    if name not in FLOWS:
        raise Refused("flow_unavailable", detail=name)
    return FLOWS[name]


SAYING = frozenset(
    kind.event for flow in FLOWS.values() for kind in FACTS if kind in flow.lines.messages or kind in flow.lines.said
)


def find_said(flow: str, fact: Fact) -> Message | None:
    """Return what was said with a fact of a session of this flow, with the names of its files; None if nothing was."""
    lines = find_flow(flow).lines
    say = lines.messages.get(type(fact)) or lines.said.get(type(fact))
    message = say(fact) if say else None
    if message is None or not (message.text or message.attachments):
        return None
    names = [file.name for file in message.attachments]
    return Message(message.member, "\n".join(part for part in (message.text, *names) if part))


def flow_of(state: State) -> Flow:
    return FLOWS[state.team.flow]


def has_text(kind: type[Fact]) -> bool:
    """Whether facts of this kind may have a text that is sent with them."""
    return kind in _TEXTS


def show(fact: Fact, language: Language) -> str | None:
    """Return the text for people that is sent with a fact (`show_content`), or None if it has none.

    It depends only on the fact and the language, so that a frame can be made without the session's state.
    """
    text = _TEXTS.get(type(fact))
    return text(fact, language) if text else None
