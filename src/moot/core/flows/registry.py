"""The registry of flows. A new flow is a package beside this file; its name and one line here register it.

Importing `moot.core` imports this module, so that all flows are always registered.
"""

from typing import Any, Literal

from moot.core import envelope, evolve
from moot.core.errors import Refused
from moot.core.fact_lines import Text
from moot.core.facts import Fact
from moot.core.flows.chat.chat_flow import ChatFlow
from moot.core.flows.flow import Flow
from moot.core.flows.plan.plan_flow import PlanFlow
from moot.core.flows.supervisor.supervisor_flow import SupervisorFlow
from moot.core.session.events import SESSION_FACTS
from moot.core.session.state import State
from moot.core.session.team import Language

FlowName = Literal["chat", "supervisor", "plan"]
FLOWS: dict[str, Flow] = {flow.name: flow for flow in (ChatFlow(), SupervisorFlow(), PlanFlow())}

FACTS: tuple[type[Fact], ...] = (*SESSION_FACTS, *(kind for flow in FLOWS.values() for kind in flow.facts))

for _flow in FLOWS.values():
    evolve.learn(_flow)
    envelope.LEADING_ROLES[_flow.name] = _flow.leading_roles

_covered = {kind for flow in FLOWS.values() for kind in (*flow.lines.lines, *flow.lines.messages, *flow.lines.ignored)}
if _missing := {kind.__name__ for kind in FACTS if kind not in _covered}:
    raise TypeError(f"no lines for {', '.join(sorted(_missing))}; register or ignore them in the lines of their flow")
_TEXTS: dict[type, Text[Any]] = {kind: text for flow in FLOWS.values() for kind, text in flow.lines.texts.items()}


def find_flow(name: str) -> Flow:
    """Return the flow of this name. Raises Refused if this version does not have it."""
    if name not in FLOWS:
        raise Refused("flow_unavailable", detail=name)
    return FLOWS[name]


def flow_of(state: State) -> Flow:
    return FLOWS[state.team.flow]


def show(fact: Fact, language: Language) -> str | None:
    """Return the text for people that is sent with a fact (`show_content`), or None if it has none.

    It depends only on the fact and the language, so that a frame can be made without the session's state.
    """
    text = _TEXTS.get(type(fact))
    return text(fact, language) if text else None
