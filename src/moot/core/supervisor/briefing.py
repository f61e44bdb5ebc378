"""What the supervisor is to know when it decides."""

from msgspec import Struct

from moot.core.supervisor.conditions import SharedState
from moot.core.supervisor.decision import Unusable
from moot.core.supervisor_settings import SupervisorSettings
from moot.core.team import Language


class Taken(Struct, frozen=True, kw_only=True, gc=False):
    """A decision of before; `corrected_to` is who acted instead."""

    next_agent: str
    guidance: str = ""
    corrected_to: str = ""


class Briefing(Struct, frozen=True, kw_only=True):
    """`unusable` is what was wrong with the last answer; `decisions` are the ones before, the oldest first.

    `said` is what people said since the last decision, each with who it was.
    """

    settings: SupervisorSettings
    state: SharedState
    language: Language = "en"
    goal: str = ""
    decisions: tuple[Taken, ...] = ()
    unusable: Unusable | None = None
    said: tuple[str, ...] = ()
