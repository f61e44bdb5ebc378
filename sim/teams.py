"""The teams of a run, one of each flow, with settings drawn from the seed."""

import random

from msgspec.structs import replace

from moot.agents.script import ScriptAgent
from moot.config.loading import load_team
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.plan.plan_settings import PlanSettings, Retry
from moot.core.session.settings import Budget
from moot.core.session.team import Kind
from moot.testing import human, make_team

TURN_TIMEOUT_S = 90.0
STUDIO = load_team("content-studio")
HUMANS = ("alice", "adam")


def ai(member_id: str, role: str = "") -> MemberSpec:
    return MemberSpec(id=member_id, kind=Kind.AI, role=role, agent=ScriptAgent())


def make_chat(chance: random.Random) -> TeamFile:
    settings = ChatSettings(max_hops=chance.choice([3, 8]), turn_timeout_s=TURN_TIMEOUT_S)
    budget = Budget(max_turns=chance.choice([0, 0, 6]))
    members = (*map(human, HUMANS), ai("bob"), ai("carol"), ai("dave"))
    return make_team(*members, name="chat", language="en", chat=settings, budget=budget)


def make_plan(chance: random.Random) -> TeamFile:
    settings = PlanSettings(
        confirm=chance.choice(["always", "never"]),
        confirm_timeout_s=chance.choice([30.0, 300.0]),
        max_parallel=chance.choice([1, 2, 4]),
        turn_timeout_s=TURN_TIMEOUT_S,
        retry=Retry(max_attempts=chance.choice([0, 1, 3])),
        max_rework=chance.choice([0, 2]),
    )
    members = [*map(human, HUMANS), ai("pam", "planner"), ai("wu", "executor"), ai("xi", "executor")]
    if chance.random() < 0.6:
        members.append(ai("rex", "reviewer"))
    if chance.random() < 0.5:
        members.append(ai("abe", "aggregator"))
    return make_team(*members, name="plan", flow="plan", language="en", plan=settings)


def make_studio(chance: random.Random) -> TeamFile:
    settings = replace(
        STUDIO.supervisor,
        turn_timeout_s=TURN_TIMEOUT_S,
        max_steps=chance.choice([12, 40]),
        pause_after=chance.choice([(), ("writer_agent",)]),
    )
    members = tuple(member for member in STUDIO.members if member.kind is Kind.AI)
    return replace(STUDIO, name="studio", supervisor=settings, members=(*map(human, HUMANS), *members))


MAKERS = {"chat": make_chat, "plan": make_plan, "studio": make_studio}
