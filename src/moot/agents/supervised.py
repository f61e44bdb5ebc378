"""What the supervisor and its agents are told: the supervisor by its own prompt, the others by the one for acting."""

from typing import Any

import msgspec

from moot.core.flows.supervisor.agent_brief import AgentBrief
from moot.core.session.team import Language
from moot.core.texts import render

STATE_PART, RESULTS_PART = 4, 8  # one over this of the budget for the shared state, for what tools gave


def brief_values(brief: AgentBrief, budget_bytes: int, language: Language) -> dict[str, tuple[str, int]]:
    """Every placeholder of the prompt for acting: its text, and how many bytes of it may be shown."""
    most, some = budget_bytes // STATE_PART, budget_bytes // RESULTS_PART // 2
    return {
        "goal": (brief.goal, some),
        "guidance": (brief.guidance, some),
        "context": (brief.context_from_previous, some),
        "focus": (", ".join(brief.focus_areas), some),
        "feedback": (brief.feedback, some),
        "answers": (_dump(brief.answers) if brief.answers else "", some),
        "tools": ("\n".join(brief.tools), some),
        "results": (_results(brief), most),
        "state": (_dump(brief.state), most),
        "writes": (", ".join(brief.writes), some),
        "language": (render("language.name", language), some),
    }


def _results(brief: AgentBrief) -> str:
    return "\n".join(f"{each.call.name}: {each.error or _dump(each.result)}" for each in brief.results)


def _dump(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
