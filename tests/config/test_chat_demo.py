"""The built-in chat team, played by the core's routing alone."""

from msgspec import Struct

from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.loading import load_team
from moot.core.flows.chat import routing
from moot.core.flows.chat.chat_slice import Entry
from moot.core.intake.markers import parse
from moot.core.session.team import Team

OPENING = "[NEXT: Ada] The library opens on Sundays from May. Can you three write the poster?"


class Play(Struct):
    speakers: list[str]
    skipped: list[str]
    delay_s: float


def play(scripts: dict[str, list[ScriptEntry]], team: Team, opening: str, most: int = 20) -> Play:
    """Who speaks until the floor is a human's; takes the played entries out of the scripts."""
    result, queue, text = Play([], [], 0.0), tuple[Entry, ...](), opening
    for _ in range(most):
        decision = routing.decide(parse(text).next, queue, team)
        result.skipped += decision.skipped
        head = decision.queue[0].member if decision.queue else routing.get_fallback_target(team).id
        result.speakers.append(head)
        if team.member(head).is_human:
            return result
        queue = decision.queue[1:]
        entry = scripts[head][0] if len(scripts[head]) == 1 else scripts[head].pop(0)
        text = entry.text or ""
        result.delay_s += entry.delay_s
    raise AssertionError(f"the floor never came back: {result.speakers}")


def test_the_demo_shows_the_rules_of_chat() -> None:
    """A chain, several targets, a name that is skipped, and the floor back at the human, within seconds."""
    file = load_team("chat-demo")
    scripts: dict[str, list[ScriptEntry]] = {}
    for member_id, agent in file.agents().items():
        assert isinstance(agent, ScriptAgent)
        scripts[member_id] = [ScriptEntry(text=reply) if isinstance(reply, str) else reply for reply in agent.replies]
    first = play(scripts, file.team(), OPENING)
    assert first.speakers == ["ada", "bob", "carol", "bob", "carol", "ada", "you"]
    assert first.skipped == ["Dora"]
    again = play(scripts, file.team(), "[NEXT: Bob] Shorter, please.")
    assert again.speakers == ["bob", "you"]
    assert 1 < first.delay_s + again.delay_s < 5
    for name in scripts:  # whoever is named afterwards, for ever
        for _ in range(3):
            assert play(scripts, file.team(), f"[NEXT: {name}]").speakers[-1] == "you"
