"""Teams of models found in a folder: their servers are programs, and their addresses get keys."""

from pathlib import Path

from tests.cli.command import Moot

TEAM = """\
moot: 1
name: found
members:
  - {id: ann, kind: human}
  - {id: bob, kind: ai, agent: AGENT}
"""


def test_an_untrusted_folder_starts_no_mcp_server(moot: Moot, tmp_path: Path) -> None:
    """The exact command is shown, and nothing is started."""
    trace = tmp_path / "started"
    file = tmp_path / "team.yaml"
    file.write_text(TEAM.replace("AGENT", f"{{type: llm, model: 'openai:x', mcp: [{{command: [touch, {trace}]}}]}}"))
    said = moot("run", str(file), "--say", "[NEXT: bob] hi")
    assert said.code == 3
    assert f"bob: touch {trace}" in said.err
    assert not trace.exists()


def test_an_untrusted_folder_sends_no_key(moot: Moot, tmp_path: Path) -> None:
    """A found file could name any address and any variable; a person sees both before it is used."""
    file = tmp_path / "team.yaml"
    file.write_text(TEAM.replace("AGENT", "{type: llm, model: x, base_url: 'https://models.example', key: MY_KEY}"))
    said = moot("run", str(file), "--say", "[NEXT: bob] hi")
    assert said.code == 3
    assert "bob: ask https://models.example  (sees MY_KEY)" in said.err
