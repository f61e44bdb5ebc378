"""The settings of all flows, by the name of their section in a team file.

A flow with settings of its own adds its section to both classes: a team holds every section, and so does the first
fact of a session. This module imports no rules of a flow, because the team is below the flows.
"""

from typing import Any, Final

from msgspec import Struct

from moot.core.facts import Fact
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.flows.supervisor.supervisor_settings import SupervisorSettings

DEFAULT_FLOW: Final = "chat"  # of a team file that names none


class FlowSettings(Struct, frozen=True, kw_only=True):
    """The sections of a team."""

    chat: ChatSettings = ChatSettings()
    plan: PlanSettings = PlanSettings()
    supervisor: SupervisorSettings = SupervisorSettings()

    @property
    def history(self) -> int:
        """How many messages an AI is given, in every flow."""
        return self.chat.history


class LoggedSettings(Fact, frozen=True, kw_only=True):
    """The same sections as a log has them. A struct cannot inherit from two others."""

    chat: ChatSettings = ChatSettings()
    plan: PlanSettings = PlanSettings()
    supervisor: SupervisorSettings = SupervisorSettings()


SECTIONS = FlowSettings.__struct_fields__
if LoggedSettings.__struct_fields__ != SECTIONS:
    raise TypeError("a team and the log have different sections of settings")


def sections(settings: FlowSettings | LoggedSettings) -> dict[str, Any]:
    """Return every section by its name, to make the other class of it."""
    return {name: getattr(settings, name) for name in SECTIONS}
