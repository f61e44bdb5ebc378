"""`moot sessions show`: what each member has used."""

from pathlib import Path

from tests.cli.command import Moot

TEAM = """\
moot: 1
name: paid
language: en
members:
  - {id: alice, kind: human}
  - id: bob
    kind: ai
    name: Bob
    budget: {max_turns: 1}
    agent:
      type: script
      replies: [{text: "ok [NEXT: bob]", usage: {input_tokens: 60, output_tokens: 50, cost_usd: 0.25}}]
"""


def test_what_each_member_has_used_is_shown(moot: Moot, tmp_path: Path) -> None:
    """Turns, tokens and cost by member; the limit of one member pauses the session and names it."""
    file = tmp_path / "team.yaml"
    file.write_text(TEAM)
    session_id, frames = moot.talk("[NEXT: bob] go", team=str(file))
    assert frames[-1]["metadata"]["reason"] == "budget"
    shown = moot("sessions", "show", session_id)
    assert "⏸ Bob has used up its budget (1/1 turns). /resume grants as much again, /end stops" in shown.out
    assert shown.lines[-1] == "  Σ Bob  1 turn · 110 tokens · 0.2500 USD"
    (state,) = moot("sessions", "show", session_id, "--json").objects
    assert state["state"]["spent_by_member"] == {
        "bob": {
            "turns": 1,
            "tokens": 110,
            "cost_usd": 0.25,
            "output_tokens": 50,
            "cached_tokens": 0,
            "thinking_tokens": 0,
        }
    }


def test_where_nothing_was_reported_nothing_is_shown(moot: Moot) -> None:
    """A conversation of people and scripts costs nothing."""
    session_id, _ = moot.talk("alice: hello")
    assert "Σ" not in moot("sessions", "show", session_id).out
