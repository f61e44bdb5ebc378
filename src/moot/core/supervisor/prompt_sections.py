"""The sections of the supervisor's prompt, one function each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from moot.core import text
from moot.core.supervisor.briefing import Briefing
from moot.core.supervisor.conditions import holds_any
from moot.core.supervisor.decision import Decision
from moot.core.supervisor.ending import is_out_of_rounds, missing_for_end, review_approved, review_exists
from moot.core.supervisor.prompt_words import IS, WORDS
from moot.core.supervisor.quality import low_axes, quality_fallback
from moot.core.supervisor.state_update import start_state
from moot.core.supervisor_settings import END, ENGINE_KEYS, Condition, Example, SupervisedAgent, SupervisorSettings
from moot.core.team import Language

EXCERPT_CHARS = 120
DECISIONS = 20  # the newest; older ones are counted


def _goal(briefing: Briefing) -> str:
    return briefing.goal or WORDS["no_goal"][briefing.language]


def _format(briefing: Briefing) -> str:
    words, settings = WORDS, briefing.settings
    example = Decision(
        next_agent=next(iter(settings.agents), END),
        guidance=words["example_guidance"][briefing.language],
        context_from_previous=words["example_context"][briefing.language],
        focus_areas=tuple(words["example_areas"][briefing.language].split(", ")),
    )
    allowed = ", ".join([*settings.agents, END])
    return (
        f"{words['format'][briefing.language]}\n\n{_fence(example)}\n\n{words['allowed'][briefing.language]} {allowed}"
    )


def _state(briefing: Briefing) -> str:
    """✅ done, ❌ open, for every key that people or agents give."""
    keys = [key for key in start_state(briefing.settings) if key not in ENGINE_KEYS]
    lines = [_describe_key(key, briefing.state.get(key), briefing.language) for key in keys]
    rounds, most = briefing.state.get("iterationCount") or 0, briefing.state.get("maxIterations")
    lines.append(f"- {WORDS['rounds'][briefing.language]} {rounds}/{most or briefing.settings.max_iterations}")
    return "\n".join(lines)


def _describe_key(key: str, value: Any, language: Language) -> str:
    if not _is_done(value):
        return f"- {key}: ❌ {WORDS['open'][language]}"
    excerpt = text.cut(msgspec.json.encode(value).decode(), EXCERPT_CHARS).replace("\n", " ")
    return f"- {key}: ✅ {WORDS['done'][language]} {excerpt}"


def _is_done(value: Any) -> bool:
    match value:
        case None | False:
            return False
        case str():
            return not text.is_blank(value)
        case list() | tuple() | Mapping():
            return len(value) > 0
        case _:
            return True


def _agents(briefing: Briefing) -> str:
    return "\n".join(_describe_agent(name, agent, briefing) for name, agent in briefing.settings.agents.items())


def _describe_agent(name: str, agent: SupervisedAgent, briefing: Briefing) -> str:
    language, parts = briefing.language, [agent.purpose.strip() or WORDS["no_purpose"][briefing.language]]
    if agent.requires_any:
        either = WORDS["or"][language].join(_describe_condition(each, language) for each in agent.requires_any)
        mark = "✅" if holds_any(agent.requires_any, briefing.state) else "❌"
        parts.append(f"{WORDS['needs'][language]} {either} {mark}")
    if agent.fallback:
        parts.append(f"{WORDS['else'][language]} {agent.fallback}")
    if agent.writes:
        parts.append(f"{WORDS['writes'][language]} {', '.join(agent.writes)}")
    return f"- {name}: {' · '.join(parts)}"


def _describe_condition(condition: Condition, language: Language) -> str:
    expected = condition.expected
    return f"{condition.key} {IS[str(expected).lower()][language]}"


def _decisions(briefing: Briefing) -> str:
    language, kept = briefing.language, briefing.decisions[-DECISIONS:]
    if not kept:
        return WORDS["nothing_decided"][language]
    first = len(briefing.decisions) - len(kept) + 1
    lines = []
    for number, taken in enumerate(kept, start=first):
        corrected = f" → {taken.corrected_to} ({WORDS['corrected'][language]})" if taken.corrected_to else ""
        guidance = f": {taken.guidance}" if taken.guidance else ""
        lines.append(f"{number}. {taken.next_agent}{corrected}{guidance}")
    return "\n".join(lines)


def _hints(briefing: Briefing) -> str:
    return "\n".join(f"⚠️ {hint}" for hint in list_hints(briefing))


def list_hints(briefing: Briefing) -> Iterator[str]:
    """What people said, what was wrong with the last answer, and what a failed review suggests."""
    settings, state, language = briefing.settings, briefing.state, briefing.language
    for said in briefing.said:
        yield WORDS["said"][language].format(said=said)
    if briefing.unusable is not None:
        missing = ", ".join(_describe_condition(each, language) for each in missing_for_end(settings, state))
        yield WORDS[f"fault_{briefing.unusable.fault}"][language].format(
            given=briefing.unusable.given,
            allowed=", ".join([*settings.agents, END]),
            missing=missing or WORDS["approval"][language],
        )
    if not review_exists(settings, state) or review_approved(settings, state):
        return
    low = ", ".join(low_axes(settings.quality, state)) if settings.quality else ""
    yield WORDS["review_failed"][language].format(low=f" ({low})" if low else "")
    fallback = quality_fallback(settings.quality, state)
    if fallback:
        yield WORDS["fallback"][language].format(agent=fallback)
    if is_out_of_rounds(settings, state):
        yield WORDS["out_of_rounds"][language]


def _few_shot(briefing: Briefing) -> str:
    examples = briefing.settings.few_shot or tuple(_make_examples(briefing.settings, briefing.language))
    return "\n\n".join(f"{each.situation.strip()}\n{_fence(each.decision)}" for each in examples)


def _make_examples(settings: SupervisorSettings, language: Language) -> Iterator[Example]:
    """From the team's own agents: one whose need is missing, and the end."""
    for name, agent in settings.agents.items():
        if agent.fallback and agent.requires_any:
            key = agent.requires_any[0].key
            situation = WORDS["example_missing"][language].format(key=key, agent=name)
            guidance = WORDS["example_fill"][language].format(key=key)
            yield Example(situation=situation, decision=_example(agent.fallback, guidance))
            break
    yield Example(situation=WORDS["example_done"][language], decision=_example(END, ""))


def _example(agent: str, guidance: str) -> dict[str, Any]:
    return msgspec.structs.asdict(Decision(next_agent=agent, guidance=guidance))


def _fence(value: Any) -> str:
    return f"```json\n{msgspec.json.format(msgspec.json.encode(value), indent=2).decode()}\n```"


SECTIONS: dict[str, Callable[[Briefing], str]] = {
    "goal": _goal,
    "state": _state,
    "agents": _agents,
    "decisions": _decisions,
    "hints": _hints,
    "format": _format,
    "few_shot": _few_shot,
}
