"""The sections of the supervisor's prompt, one function each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from moot.core import text
from moot.core.flows.supervisor.briefing import Briefing
from moot.core.flows.supervisor.conditions import holds, holds_any
from moot.core.flows.supervisor.decision import Decision
from moot.core.flows.supervisor.ending import (
    is_out_of_rounds,
    is_reviewer,
    missing_for_end,
    review_approved,
    review_exists,
)
from moot.core.flows.supervisor.quality import low_axes, quality_fallback, threshold
from moot.core.flows.supervisor.state_update import start_state
from moot.core.flows.supervisor.supervisor_settings import (
    END,
    ENGINE_KEYS,
    Condition,
    Example,
    SupervisedAgent,
    SupervisorSettings,
)
from moot.core.session.team import Language
from moot.core.texts import render

EXCERPT_CHARS = 1_500
DECISIONS = 20  # the newest; older ones are counted


def _goal(briefing: Briefing) -> str:
    return briefing.goal or render("prompt.no_goal", briefing.language)


def _format(briefing: Briefing) -> str:
    settings, language = briefing.settings, briefing.language
    example = Decision(
        next_agent=next(iter(settings.agents), END),
        guidance=render("prompt.example_guidance", language),
        context_from_previous=render("prompt.example_context", language),
        focus_areas=tuple(render("prompt.example_areas", language).split(", ")),
    )
    allowed = ", ".join([*settings.agents, END])
    return f"{render('prompt.format', language)}\n\n{_fence(example)}\n\n{render('prompt.allowed', language)} {allowed}"


def _order(briefing: Briefing) -> str:
    return " → ".join([*briefing.settings.usual_order, END])


def _fallbacks(briefing: Briefing) -> str:
    """List which agent to go back to for which score."""
    quality = briefing.settings.quality
    if quality is None:
        return ""
    return "\n".join(
        render(
            "prompt.fallback_row", briefing.language, axis=axis, least=f"{threshold(quality, axis):.2f}", agent=agent
        )
        for axis, agent in quality.fallback
    )


def _state(briefing: Briefing) -> str:
    """List every key that an agent writes, ✅ done or ❌ open, and what people gave."""
    settings, language = briefing.settings, briefing.language
    owned = {key for agent in settings.agents.values() for key in agent.writes}
    lines = []
    for key in start_state(settings):
        value = briefing.state.get(key)
        if key in ENGINE_KEYS or (key not in owned and not _is_done(value)):
            continue
        lines.append(_describe_key(key, value, briefing))
    rounds, most = briefing.state.get("iterationCount") or 0, briefing.state.get("maxIterations")
    lines.append(f"- {render('prompt.rounds', language)} {rounds}/{most or settings.max_iterations}")
    return "\n".join(lines)


def _describe_key(key: str, value: Any, briefing: Briefing) -> str:
    language = briefing.language
    if not _is_done(value):
        return f"- {key}: ❌ {render('prompt.open', language)}"
    excerpt = text.cut(msgspec.json.encode(value).decode(), EXCERPT_CHARS).replace("\n", " ")
    return f"- {key}: {_judge_key(key, briefing)} {excerpt}"


def _judge_key(key: str, briefing: Briefing) -> str:
    """Return the mark of a key with a value: a review may be outdated or not approve, a value may lack something."""
    settings, state, language = briefing.settings, briefing.state, briefing.language
    missing = [need for need in _list_needs(settings) if _root(need.key) == key and not holds(need, state)]
    if key in _list_review_keys(settings):
        newer = list_newer_keys(briefing)
        if newer:
            return f"❌ {render('prompt.outdated', language, keys=', '.join(newer))}"
        if not review_approved(settings, state):
            return f"❌ {render('prompt.not_approved', language)}"
    elif missing:
        return f"❌ {render('prompt.lacks', language, needs=describe_needs(missing, language))}"
    return f"✅ {render('prompt.done', language)}"


def _list_needs(settings: SupervisorSettings) -> list[Condition]:
    """Return the conditions that a key must meet. Of alternatives none is a must."""
    single = [agent.requires_any[0] for agent in settings.agents.values() if len(agent.requires_any) == 1]
    return [*settings.end.requires, *single]


def _list_review_keys(settings: SupervisorSettings) -> set[str]:
    keys = {settings.quality.key} if settings.quality else set()
    return keys | ({_root(settings.end.review.approved)} if settings.end.review else set())


def list_newer_keys(briefing: Briefing) -> list[str]:
    """Return the keys that make the last review outdated.

    It is outdated once what it reviewed was rewritten, or the agent that its scores suggest has acted.
    """
    settings, state = briefing.settings, briefing.state
    if not review_exists(settings, state):
        return []
    changed = [key for key in briefing.changed if key not in _list_review_keys(settings)]
    reviewed = {_root(need.key) for need in settings.end.requires}
    is_outdated = any(key in reviewed for key in changed)
    return changed if is_outdated or quality_fallback(settings.quality, state) in briefing.acted else []


def _root(key: str) -> str:
    return key.partition(".")[0]


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
    language, parts = briefing.language, [agent.purpose.strip() or render("prompt.no_purpose", briefing.language)]
    if agent.requires_any:
        either = describe_needs(agent.requires_any, language)
        mark = "✅" if holds_any(agent.requires_any, briefing.state) else "❌"
        parts.append(f"{render('prompt.needs', language)} {either} {mark}")
    if agent.fallback:
        parts.append(f"{render('prompt.else', language)} {agent.fallback}")
    if agent.writes:
        parts.append(f"{render('prompt.writes', language)} {', '.join(agent.writes)}")
    return f"- {name}: {' · '.join(parts)}"


def describe_needs(conditions: Iterable[Condition], language: Language) -> str:
    """Describe conditions of which one is enough."""
    return render("prompt.or", language).join(_describe_condition(condition, language) for condition in conditions)


def _describe_condition(condition: Condition, language: Language) -> str:
    expected = condition.expected
    return f"{condition.key} {render(f'prompt.is.{str(expected).lower()}', language)}"


def _decisions(briefing: Briefing) -> str:
    language, kept = briefing.language, briefing.decisions[-DECISIONS:]
    if not kept:
        return render("prompt.nothing_decided", language)
    first = len(briefing.decisions) - len(kept) + 1
    lines = []
    for number, taken in enumerate(kept, start=first):
        corrected = f" → {taken.corrected_to} ({render('prompt.corrected', language)})" if taken.corrected_to else ""
        guidance = f": {taken.guidance}" if taken.guidance else ""
        lines.append(f"{number}. {taken.next_agent}{corrected}{guidance}")
    return "\n".join(lines)


def _hints(briefing: Briefing) -> str:
    return "\n".join(f"⚠️ {hint}" for hint in list_hints(briefing))


def list_hints(briefing: Briefing) -> Iterator[str]:
    """Yield what people said, what was wrong with the last answer, and what a failed review suggests."""
    settings, state, language = briefing.settings, briefing.state, briefing.language
    for message in briefing.said:
        yield render("prompt.said", language, text=message)
    if briefing.unusable is not None:
        missing = ", ".join(_describe_condition(need, language) for need in missing_for_end(settings, state))
        yield render(
            f"prompt.fault_{briefing.unusable.fault}",
            language,
            given=briefing.unusable.given,
            allowed=", ".join([*settings.agents, END]),
            missing=missing or render("prompt.approval", language),
        )
    if not review_exists(settings, state):
        return
    newer = list_newer_keys(briefing)
    if newer:
        reviewers = ", ".join(agent for agent in settings.agents if is_reviewer(settings, agent))
        yield render("prompt.review_outdated", language, keys=", ".join(newer), agent=reviewers)
    elif not review_approved(settings, state):
        yield from _hints_of_review(briefing)
    if is_out_of_rounds(settings, state) and not review_approved(settings, state):
        yield render("prompt.out_of_rounds", language)


def _hints_of_review(briefing: Briefing) -> Iterator[str]:
    """Yield what a review that did not approve suggests."""
    settings, state, language = briefing.settings, briefing.state, briefing.language
    low = ", ".join(low_axes(settings.quality, state)) if settings.quality else ""
    yield render("prompt.review_failed", language, low=f" ({low})" if low else "")
    fallback = quality_fallback(settings.quality, state)
    if fallback:
        yield render("prompt.fallback", language, agent=fallback)


def _few_shot(briefing: Briefing) -> str:
    examples = briefing.settings.few_shot or tuple(_make_examples(briefing.settings, briefing.language))
    return "\n\n".join(f"{example.situation.strip()}\n{_fence(example.decision)}" for example in examples)


def _make_examples(settings: SupervisorSettings, language: Language) -> Iterator[Example]:
    """Make examples from the team: an agent whose precondition is missing, and the end."""
    for name, agent in settings.agents.items():
        if agent.fallback and agent.requires_any:
            key = agent.requires_any[0].key
            situation = render("prompt.example_missing", language, key=key, agent=name)
            guidance = render("prompt.example_fill", language, key=key)
            yield Example(situation=situation, decision=_example(agent.fallback, guidance))
            break
    yield Example(situation=render("prompt.example_done", language), decision=_example(END, ""))


def _example(agent: str, guidance: str) -> dict[str, Any]:
    return msgspec.structs.asdict(Decision(next_agent=agent, guidance=guidance))


def _fence(value: Any) -> str:
    return f"```json\n{msgspec.json.format(msgspec.json.encode(value), indent=2).decode()}\n```"


SECTIONS: dict[str, Callable[[Briefing], str]] = {
    "goal": _goal,
    "state": _state,
    "agents": _agents,
    "order": _order,
    "fallbacks": _fallbacks,
    "decisions": _decisions,
    "hints": _hints,
    "format": _format,
    "few_shot": _few_shot,
}
