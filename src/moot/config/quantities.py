"""The bounded types that settings are made of."""

from typing import Annotated

from msgspec import Meta

from moot.config.phrase import Phrase
from moot.core import limits
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.flows.supervisor.supervisor_settings import Quality, SupervisorSettings, ToolLoop
from moot.core.session.settings import Budget, RouteThresholds
from moot.core.session.usage import Usage

_MOST = 1_000_000_000  # nobody means more; it keeps sums within 64 bits
_YEAR_S = 31_536_000.0  # timers overflow far beyond it
_ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
_FUNCTION_PATH = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"
PATTERNS = {_ENV_NAME: Phrase("team.pattern.env_name"), _FUNCTION_PATH: Phrase("team.pattern.function")}

Name = Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARS)]
Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=_MOST)]
Rank = Annotated[int, Meta(ge=-_MOST, le=_MOST)]
Duration = Annotated[float, Meta(gt=0, le=_YEAR_S)]
Delay = Annotated[float, Meta(ge=0, le=_YEAR_S)]
EnvName = Annotated[str, Meta(pattern=_ENV_NAME)]
FunctionPath = Annotated[str, Meta(pattern=_FUNCTION_PATH, description="package.module:function")]
Command = Annotated[tuple[Text, ...], Meta(min_length=1)]

# the core's structs carry no bounds: what was logged once must always decode
CORE_BOUNDS: dict[tuple[type, str], dict[str, float]] = {
    (ChatSettings, "max_hops"): {"ge": 0, "le": _MOST},
    (ChatSettings, "history"): {"ge": 0, "le": limits.HISTORY_MESSAGES},
    (ChatSettings, "turn_timeout_s"): {"gt": 0, "le": _YEAR_S},
    (RouteThresholds, "certain"): {"ge": 0, "le": 1},
    (RouteThresholds, "minor_change"): {"ge": 0, "le": 1},
    (RouteThresholds, "cancel"): {"ge": 0, "le": 1},
    (PlanSettings, "confirm_timeout_s"): {"ge": 0, "le": _YEAR_S},
    (PlanSettings, "max_parallel"): {"ge": 1, "le": _MOST},
    (PlanSettings, "dispatch_timeout_s"): {"gt": 0, "le": _YEAR_S},
    (PlanSettings, "turn_timeout_s"): {"gt": 0, "le": _YEAR_S},
    (PlanSettings, "max_rework"): {"ge": 0, "le": _MOST},
    (Retry, "max_attempts"): {"ge": 0, "le": _MOST},
    (Retry, "base_delay_s"): {"ge": 0, "le": _YEAR_S},
    (Retry, "cap_s"): {"ge": 0, "le": _YEAR_S},
    (SupervisorSettings, "max_iterations"): {"ge": 1, "le": _MOST},
    (SupervisorSettings, "max_steps"): {"ge": 1, "le": _MOST},
    (SupervisorSettings, "max_clarification_rounds"): {"ge": 0, "le": _MOST},
    (SupervisorSettings, "turn_timeout_s"): {"gt": 0, "le": _YEAR_S},
    (ToolLoop, "max_rounds"): {"ge": 0, "le": _MOST},
    (Quality, "threshold"): {"ge": 0, "le": 100},
    (Budget, "max_tokens"): {"ge": 0, "le": 10**15},
    (Budget, "max_cost_usd"): {"ge": 0, "le": _MOST},
    (Budget, "max_turns"): {"ge": 0, "le": _MOST},
    (Usage, "input_tokens"): {"ge": 0, "le": _MOST},
    (Usage, "output_tokens"): {"ge": 0, "le": _MOST},
    (Usage, "cost_usd"): {"ge": 0, "le": _MOST},
}
