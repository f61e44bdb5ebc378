"""What the supervisor's prompt is built from."""

from msgspec import Struct

from moot.core.flows.supervisor.conditions import SharedState
from moot.core.flows.supervisor.decision import Unusable
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings
from moot.core.session.team import DEFAULT_LANGUAGE, Language


class Taken(Struct, frozen=True, kw_only=True, gc=False):
    """An earlier decision. `corrected_to` is the agent that acted instead."""

    next_agent: str
    guidance: str = ""
    corrected_to: str = ""


class Briefing(Struct, frozen=True, kw_only=True):
    """`unusable` is what was wrong with the last answer; `decisions` are the earlier ones, oldest first.

    `said` are the messages of people since the last decision, each with its author. `changed` are the keys that were
    written since the last review, `acted` the agents that wrote them.
    """

    settings: SupervisorSettings
    state: SharedState
    language: Language = DEFAULT_LANGUAGE
    goal: str = ""
    decisions: tuple[Taken, ...] = ()
    unusable: Unusable | None = None
    said: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    acted: tuple[str, ...] = ()
