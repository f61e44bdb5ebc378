"""What an agent of the supervisor flow is told: the values of the placeholders of its prompt."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.flows.supervisor.agent_brief import AgentBrief
from moot.core.flows.supervisor.prompt_sections import describe_needs
from moot.core.flows.supervisor.shapes import describe_misfit
from moot.core.flows.supervisor.supervisor_settings import ENGINE_KEYS
from moot.core.session.team import Language
from moot.core.texts import render

STATE_PART, RESULTS_PART = 4, 8  # one over this of the budget for the shared state, for what tools gave


class Value(Struct, frozen=True):
    """The text for a placeholder and how many bytes of it may be shown. What other members wrote is quoted."""

    text: str
    most_bytes: int
    is_quoted: bool = True


def brief_values(brief: AgentBrief, budget_bytes: int, language: Language) -> dict[str, Value]:
    """Return the values of the placeholders of the prompt for acting."""
    most, some = budget_bytes // STATE_PART, budget_bytes // RESULTS_PART // 2
    problems = "\n".join(f"- {describe_misfit(misfit, language)}" for misfit in brief.misfits)
    return {
        "agent": Value(brief.agent, some, is_quoted=False),
        "purpose": Value(brief.purpose.strip(), some, is_quoted=False),
        "goal": Value(brief.goal, some, is_quoted=False),
        "guidance": Value(brief.guidance, most),
        "reason": Value(_explain(brief, language), some, is_quoted=False),
        "context": Value(brief.context_from_previous, some),
        "focus": Value(", ".join(brief.focus_areas), some),
        "feedback": Value(brief.feedback, some, is_quoted=False),
        "problems": Value(problems, some, is_quoted=False),
        "answers": Value(_dump(brief.answers) if brief.answers else "", some),
        "tools": Value("\n".join(f"- {tool}" for tool in brief.tools), some, is_quoted=False),
        "results": Value(_results(brief), most),
        "state": Value(_list_state(brief.state), most),
        "writes": Value(", ".join(brief.writes), some, is_quoted=False),
        "output": Value(_show_output(brief), some, is_quoted=False),
        "language": Value(render("language.name", language), some, is_quoted=False),
    }


def _explain(brief: AgentBrief, language: Language) -> str:
    """Explain why the agent acts though the supervisor did not choose it."""
    if brief.needed_by:
        return render(
            "context.missing_for", language, agent=brief.needed_by, needs=describe_needs(brief.needs, language)
        )
    return render("context.low_scores", language, scores=", ".join(brief.low_scores)) if brief.low_scores else ""


def _list_state(state: Mapping[str, Any]) -> str:
    """List the keys that have a value, one line each. Moot's own counters say nothing to an agent."""
    kept = {key: value for key, value in state.items() if key not in ENGINE_KEYS and value not in (None, "", [], {})}
    return "\n".join(f"{key}: {_dump(value)}" for key, value in kept.items())


def _show_output(brief: AgentBrief) -> str:
    """Show the JSON that is expected: every key of the agent, with its shape."""
    return _dump({"state": {key: brief.shapes.get(key, "…") for key in brief.writes}}) if brief.writes else ""


def _results(brief: AgentBrief) -> str:
    return "\n".join(
        f"{each.call.name}: {each.error or _dump(_without_picture(each.result))}" for each in brief.results
    )


def _without_picture(result: Any) -> Any:
    """Leave out the data of a picture: Moot keeps it, an agent refers to it by its id."""
    if isinstance(result, Mapping) and str(result.get("src", "")).startswith("data:"):
        return {name: value for name, value in result.items() if name != "src"}
    return result


def _dump(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
