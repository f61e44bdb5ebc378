"""Teams of models found in a folder: their servers are programs, and their addresses get keys."""

from pathlib import Path

import pytest

from moot.agents.llm.models import ModelAddress
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


@pytest.mark.parametrize("address", ["https://models.example", "http://127.0.0.1:1"])
def test_an_untrusted_folder_sends_no_key(address: str, moot: Moot, tmp_path: Path) -> None:
    """A found file could name any address, a local one too, and any variable; a person sees both before."""
    file = tmp_path / "team.yaml"
    file.write_text(TEAM.replace("AGENT", f"{{type: llm, model: x, base_url: '{address}', key: MY_KEY}}"))
    ended = moot("run", str(file), "--say", "[NEXT: bob] hi")
    assert ended.code == 3
    assert f"bob: ask {address}  (sees MY_KEY)" in ended.err


def test_a_local_model_is_sent_no_key_that_nobody_named(moot: Moot, tmp_path: Path) -> None:
    """`model: llama3:8b` with a local address needs no trust, because it gets no key, whatever is set."""
    address = ModelAddress(name="llama3:8b", base_url="http://localhost:11434/v1")
    assert address.key_name == ""
    file = tmp_path / "team.yaml"
    file.write_text(TEAM.replace("AGENT", "{type: llm, model: 'llama3:8b', base_url: 'http://127.0.0.1:1'}"))
    assert moot("trust", str(file)).err.endswith("needs no trust\n")
