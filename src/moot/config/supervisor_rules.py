"""Rules of supervisor teams that types cannot express: every name must exist. Unreadable parts are skipped."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from moot.config.message_format import join_choices, shorten, suggest
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.core.flows.supervisor.cast import find_leader, find_player
from moot.core.flows.supervisor.prompt import PLACEHOLDERS
from moot.core.flows.supervisor.supervisor_settings import (
    END,
    ENGINE_KEYS,
    RESERVED,
    SUPERVISOR,
    Condition,
    EndRule,
    Quality,
    SupervisedAgent,
    SupervisorSettings,
    ToolLoop,
)
from moot.core.session.team import Kind, Member, Path, member
from moot.core.template import list_placeholders

_NEAR = 0.8  # similarity to a known key from which a key is taken for a typo
Part = TypeVar("Part")


def check_supervisor(data: Mapping[str, object]) -> Iterator[Problem]:
    """Find the problems of the part `supervisor` of a team file and of the members that play it."""
    written = data.get("supervisor")
    if not isinstance(written, Mapping):
        written = {}
    settings = _read_settings(written)
    if data.get("flow") == "supervisor":
        yield from _check_cast(settings, _read_members(data.get("members")))
    for problem in _check_settings(settings):
        yield Problem(path=("supervisor", *problem.path), text=problem.text, hint=problem.hint)


def _check_settings(settings: SupervisorSettings) -> Iterator[Problem]:
    yield from _check_agents(settings)
    yield from _check_tool_nodes(settings)
    yield from _check_keys(settings)
    for position, agent in enumerate(settings.pause_after):
        yield from _check_known(settings, agent, ("pause_after", position))
    if settings.quality is not None:
        for position, (_, agent) in enumerate(settings.quality.fallback):
            yield from _check_known(settings, agent, ("quality", "fallback", position, 1))
    elif settings.end.review is not None and settings.end.review.quality:
        yield Problem(
            path=("end", "review", "quality"),
            text=Phrase("team.supervisor.end.no_quality"),
            hint=Phrase("team.supervisor.end.no_quality.hint"),
        )
    yield from _check_prompt(settings)


def _check_agents(settings: SupervisorSettings) -> Iterator[Problem]:
    for name, agent in settings.agents.items():
        path: Path = ("agents", name)
        if name in RESERVED or name != name.strip() or not name:
            yield Problem(
                path=path,
                text=Phrase("team.supervisor.agent_name", value=shorten(name)),
                hint=Phrase("team.supervisor.agent_name.hint", value=join_choices(RESERVED)),
            )
        if agent.fallback is not None:
            yield from _check_known(settings, agent.fallback, (*path, "fallback"))
        if agent.fallback == name:
            yield Problem(path=(*path, "fallback"), text=Phrase("team.supervisor.own_fallback", value=shorten(name)))
        for position, key in enumerate(agent.writes):
            if key in ENGINE_KEYS:
                yield Problem(
                    path=(*path, "writes", position),
                    text=Phrase("team.supervisor.engine_key", value=shorten(key)),
                    hint=Phrase("team.supervisor.engine_key.hint", value=join_choices(ENGINE_KEYS)),
                )


def _check_known(settings: SupervisorSettings, agent: str, path: Path) -> Iterator[Problem]:
    if agent not in settings.agents:
        hint = suggest(agent, settings.agents, Phrase("team.plural.agents_here"))
        yield Problem(path=path, text=Phrase("team.supervisor.no_agent", value=shorten(agent)), hint=hint)


def _check_tool_nodes(settings: SupervisorSettings) -> Iterator[Problem]:
    loops: list[tuple[Path, ToolLoop]] = [(("tools",), settings.tools)]
    loops += [(("agents", name, "tools"), agent.tools) for name, agent in settings.agents.items() if agent.tools]
    taken = {*RESERVED, *settings.agents}
    for path, loop in loops:
        if loop.node in taken:
            text = Phrase("team.supervisor.node_taken", value=shorten(loop.node))
            yield Problem(path=(*path, "node"), text=text, hint=Phrase("team.supervisor.node_taken.hint"))
        taken.add(loop.node)


def _check_keys(settings: SupervisorSettings) -> Iterator[Problem]:
    """Any key may be used without a declaration, unless it looks like a typo."""
    declared = {*ENGINE_KEYS, *settings.state, *settings.inputs, *settings.complete_when}
    for agent in settings.agents.values():
        declared.update(agent.writes)
    for path, key in _list_keys(settings):
        root = key.partition(".")[0]
        near = difflib.get_close_matches(root[:100], [] if root in declared else declared, n=1, cutoff=_NEAR)
        if near:
            yield Problem(
                path=path,
                text=Phrase("team.supervisor.nobody_writes", value=shorten(root)),
                hint=Phrase("team.did_you_mean", value=near[0]),
            )


def _list_keys(settings: SupervisorSettings) -> Iterator[tuple[Path, str]]:
    def of(conditions: Iterable[Condition], path: Path) -> Iterator[tuple[Path, str]]:
        for position, condition in enumerate(conditions):
            yield (*path, position, "key"), condition.key

    for name, agent in settings.agents.items():
        yield from of(agent.requires_any, ("agents", name, "requires_any"))
        if agent.tools and agent.tools.done_when:
            yield ("agents", name, "tools", "done_when"), agent.tools.done_when
    yield from of(settings.end.requires, ("end", "requires"))
    if settings.end.review:
        yield ("end", "review", "approved"), settings.end.review.approved
    if settings.quality:
        yield ("quality", "key"), settings.quality.key
    for key, coverage in settings.complete_when.items():
        yield ("complete_when", key, "items"), coverage.items
        yield ("complete_when", key, "by"), coverage.by


def _check_prompt(settings: SupervisorSettings) -> Iterator[Problem]:
    for name in list_placeholders(settings.prompt):
        if name not in PLACEHOLDERS:
            text = Phrase("team.supervisor.placeholder", value=shorten("{{" + name + "}}"))
            yield Problem(
                path=("prompt",), text=text, hint=suggest(name, PLACEHOLDERS, Phrase("team.plural.there_are"))
            )
    for position, example in enumerate(settings.few_shot):
        chosen = example.decision.get("next_agent")
        if chosen != END and chosen not in settings.agents:
            path: Path = ("few_shot", position, "decision")
            hint = suggest(chosen, [*settings.agents, END], Phrase("team.plural.acceptable"))
            yield Problem(path=path, text=Phrase("team.supervisor.example", value=shorten(chosen)), hint=hint)


def _check_cast(settings: SupervisorSettings, members: list[Member]) -> Iterator[Problem]:
    minds = [member.id for member in members if not member.is_human]
    leader = find_leader(settings, members)
    if leader is None:
        text = Phrase("team.supervisor.no_leader", value=shorten(settings.member))
        yield Problem(
            path=("supervisor", "member"),
            text=text,
            hint=suggest(settings.member, minds, Phrase("team.plural.ai_members")),
        )
    if not settings.agents:
        yield Problem(path=("supervisor", "agents"), text=Phrase("team.supervisor.no_agents"))
    for name, agent in settings.agents.items():
        path: Path = ("supervisor", "agents", name)
        player = find_player(settings, name, members)
        if player is None and agent.member is not None:
            text = Phrase("team.supervisor.no_ai_member", value=shorten(agent.member))
            yield Problem(
                path=(*path, "member"), text=text, hint=suggest(agent.member, minds, Phrase("team.plural.ai_members"))
            )
        elif player is None:
            yield Problem(
                path=path,
                text=Phrase("team.supervisor.nobody_plays", value=shorten(name)),
                hint=Phrase("team.supervisor.nobody_plays.hint", value=shorten(name)),
            )
        elif player is leader:
            yield Problem(path=path, text=Phrase("team.supervisor.leads", value=shorten(player.id)))


def _read_settings(written: Mapping[str, object]) -> SupervisorSettings:
    """Read the settings as far as possible, so that a problem in one part does not hide those of others."""
    agents = written.get("agents")
    named = agents if isinstance(agents, Mapping) else {}
    settings = SupervisorSettings(
        member=_convert(written.get("member"), str, "") or SUPERVISOR,
        tools=_convert(written.get("tools"), ToolLoop, SupervisorSettings().tools),
        end=_convert(written.get("end"), EndRule, EndRule()),
        agents={name: _convert(agent, SupervisedAgent, SupervisedAgent()) for name, agent in named.items()},
        quality=_convert(written.get("quality"), Quality, None),
    )
    for field in ("pause_after", "inputs", "state", "complete_when", "prompt", "few_shot"):
        part = _convert({field: written.get(field)}, SupervisorSettings, settings)
        settings = msgspec.structs.replace(settings, **{field: getattr(part, field)})
    return settings


def _convert(value: object, cls: type[Part], default: Any) -> Any:
    try:
        return msgspec.convert(value, cls)
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):  # a lone surrogate is no text
        return default


def _read_members(written: object) -> list[Member]:
    """Read the members. An unreadable kind counts as AI, so that no AI is reported missing."""
    entries = [entry for entry in written if isinstance(entry, Mapping)] if isinstance(written, list) else []
    return [
        member(
            entry["id"],
            Kind.HUMAN if entry.get("kind") == "human" else Kind.AI,
            role=entry["role"] if isinstance(entry.get("role"), str) else "",
        )
        for entry in entries
        if isinstance(entry.get("id"), str)
    ]
