"""Rules of plan teams that types cannot express: somebody plans, somebody does the tasks."""

import difflib
from collections.abc import Iterator, Mapping

from moot.config.message_format import shorten
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.core import limits
from moot.core.session.team import Kind

LEADING = ("planner", "reviewer", "aggregator")  # they say what is to be done, or what came of it
ROLES = (*LEADING, "executor")
_NEAR = 0.85  # how like a known role one must be to be taken for a slip of the pen


def check_plan(data: Mapping[str, object]) -> Iterator[Problem]:
    members = data.get("members")
    if data.get("flow") != "plan" or not isinstance(members, list):
        return
    ais = [
        (position, member)
        for position, member in enumerate(members)
        if isinstance(member, dict) and member.get("kind") == Kind.AI
    ]
    if not ais:
        yield Problem(
            path=("members",),
            text=Phrase("team.plan.no_ai"),
            hint=Phrase("team.plan.no_ai.hint"),
        )
        return
    if all(member.get("role") in LEADING for _, member in ais):
        yield Problem(
            path=("members",),
            text=Phrase("team.plan.no_doer"),
            hint=Phrase("team.plan.no_doer.hint"),
        )
    for position, member in ais:
        yield from _check_role(position, member.get("role"))


def _check_role(position: int, role: object) -> Iterator[Problem]:
    """Any role is allowed, as tasks may ask for it; one that is similar to a known role is taken for a typo."""
    if not isinstance(role, str) or role in ROLES or len(role) > limits.NAME_CHARS:
        return
    near = difflib.get_close_matches(role.lower(), ROLES, n=1, cutoff=_NEAR)
    if near:
        yield Problem(
            path=("members", position, "role"),
            text=Phrase("team.plan.role", value=shorten(role)),
            hint=Phrase("team.did_you_mean", value=near[0]),
        )
