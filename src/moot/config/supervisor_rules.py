"""Rules of supervisor teams that types cannot express: every name must exist. Unreadable parts are skipped."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from moot.config.message_format import join_choices, shorten, suggest
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
            text="the end asks for quality, but there is no part quality",
            hint="add quality: {key: …}, or leave it out here",
        )
    yield from _check_prompt(settings)


def _check_agents(settings: SupervisorSettings) -> Iterator[Problem]:
    for name, agent in settings.agents.items():
        path: Path = ("agents", name)
        if name in RESERVED or name != name.strip() or not name:
            yield Problem(
                path=path,
                text=f"an agent cannot be called {shorten(name)}",
                hint=f"{join_choices(RESERVED)} have a meaning of their own, and names have no spaces around them",
            )
        if agent.fallback is not None:
            yield from _check_known(settings, agent.fallback, (*path, "fallback"))
        if agent.fallback == name:
            yield Problem(path=(*path, "fallback"), text=f"agent {shorten(name)} cannot stand in for itself")
        for position, key in enumerate(agent.writes):
            if key in ENGINE_KEYS:
                yield Problem(
                    path=(*path, "writes", position),
                    text=f"{shorten(key)} is written by Moot",
                    hint=f"agents cannot write {join_choices(ENGINE_KEYS)}",
                )


def _check_known(settings: SupervisorSettings, agent: str, path: Path) -> Iterator[Problem]:
    if agent not in settings.agents:
        hint = suggest(agent, settings.agents, "agents here")
        yield Problem(path=path, text=f"there is no agent {shorten(agent)}", hint=hint)


def _check_tool_nodes(settings: SupervisorSettings) -> Iterator[Problem]:
    loops: list[tuple[Path, ToolLoop]] = [(("tools",), settings.tools)]
    loops += [(("agents", name, "tools"), agent.tools) for name, agent in settings.agents.items() if agent.tools]
    taken = {*RESERVED, *settings.agents}
    for path, loop in loops:
        if loop.node in taken:
            text = f"{shorten(loop.node)} is the name of something else already"
            yield Problem(path=(*path, "node"), text=text, hint="give the tools of each agent a name of their own")
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
            yield Problem(path=path, text=f"nobody writes {shorten(root)}", hint=f"did you mean {near[0]!r}?")


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
            text = f"unknown placeholder {shorten('{{' + name + '}}')}"
            yield Problem(path=("prompt",), text=text, hint=suggest(name, PLACEHOLDERS, "there are"))
    for position, example in enumerate(settings.few_shot):
        chosen = example.decision.get("next_agent")
        if chosen != END and chosen not in settings.agents:
            path: Path = ("few_shot", position, "decision")
            hint = suggest(chosen, [*settings.agents, END], "acceptable")
            yield Problem(path=path, text=f"the example chooses {shorten(chosen)}, which is no agent", hint=hint)


def _check_cast(settings: SupervisorSettings, members: list[Member]) -> Iterator[Problem]:
    minds = [member.id for member in members if not member.is_human]
    leader = find_leader(settings, members)
    if leader is None:
        text = f"no AI member has the id or role {shorten(settings.member)}, so nobody leads"
        yield Problem(path=("supervisor", "member"), text=text, hint=suggest(settings.member, minds, "AI members"))
    if not settings.agents:
        yield Problem(path=("supervisor", "agents"), text="the supervisor has no agents to choose from")
    for name, agent in settings.agents.items():
        path: Path = ("supervisor", "agents", name)
        player = find_player(settings, name, members)
        if player is None and agent.member is not None:
            text = f"no AI member has the id {shorten(agent.member)}"
            yield Problem(path=(*path, "member"), text=text, hint=suggest(agent.member, minds, "AI members"))
        elif player is None:
            yield Problem(
                path=path,
                text=f"nobody plays agent {shorten(name)}",
                hint=f"give an AI member the role {shorten(name)}",
            )
        elif player is leader:
            yield Problem(path=path, text=f"member {shorten(player.id)} leads and cannot be chosen as an agent too")


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
