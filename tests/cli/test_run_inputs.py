"""`moot run --input`: values for keys that people give."""

from pathlib import Path

import pytest

from moot.cli.run import read_inputs
from moot.cli.usage import UsageError
from tests.cli.command import CHAT, Moot


def test_values_are_json_or_text() -> None:
    """What reads as JSON counts as that; the first = ends the key."""
    written = ["layoutPreference=one column", 'referenceImages=["a.png"]', "n=3", "formula=a=b", "empty="]
    assert read_inputs(written) == {
        "layoutPreference": "one column",
        "referenceImages": ["a.png"],
        "n": 3,
        "formula": "a=b",
        "empty": "",
    }
    for bad in ("layoutPreference", "=x"):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            read_inputs([bad])


def test_inputs_go_with_the_first_text(moot: Moot) -> None:
    """They are told as what the human wrote into the state; an unknown key is refused with those that there are."""
    ran = moot("run", "content-studio-demo", "--say", "a post", "--input", "layoutPreference=one column")
    assert ran.code == 0
    assert "  ✎ You: layoutPreference" in ran.out
    refused = moot("run", "content-studio-demo", "--say", "a post", "--input", "colour=blue")
    assert refused.code == 1
    assert "referenceImages, layoutPreference, imageGenProvider" in refused.out + refused.err


def test_a_text_that_names_nobody_of_the_team_is_refused(moot: Moot, tmp_path: Path) -> None:
    """Exit 1 with the nearest name, so that a script sees it; what an AI misspells is no fault of the text."""
    team = tmp_path / "team.yaml"
    bob = "{id: bob, name: Bob, kind: ai, agent: {type: script, replies: ['[NEXT: zoe] you']}}"
    team.write_text(f"moot: 1\nname: t\nlanguage: en\nmembers: [{{id: ann, kind: human}}, {bob}]\n", encoding="utf-8")
    said = moot("run", str(team), "--say", "[NEXT: bobb] hello")
    assert (said.code, "Did you mean [NEXT: Bob]?" in said.out) == (1, True)
    said = moot("run", str(team), "--say", "[NEXT: bob] hello")
    assert (said.code, "Cannot resolve [NEXT:zoe]" in said.out) == (0, True)


def test_a_run_without_a_text_starts_nothing(moot: Moot) -> None:
    """A new session needs something to say, exit 2; standard input is a text too; what is refused leaves no session."""
    said = moot("run", CHAT)
    assert (said.code, said.out) == (2, "")
    assert "--say TEXT" in said.err
    assert moot("run", CHAT, "--say", "alice: /nonsense").code == 1
    assert moot("run", CHAT, "--say", "").code == 1
    assert moot("chat", CHAT, "--plain").code == 0
    assert moot("sessions", "list").out == ""
    assert moot("run", CHAT, "--say", "alice: hi", "--input", "x=1").code == 1
    assert moot("sessions", "list").out == ""
    assert "hello there" in moot("run", CHAT, "--say", "-", stdin=b"[FROM: Alice] hello there\n").out
