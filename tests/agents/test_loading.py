"""Libraries that take long to import are imported in a thread: other sessions go on meanwhile."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import asyncio, json, sys, threading

class Witness:
    def __init__(self):
        self.threads = {{}}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {libraries!r}:
            self.threads.setdefault(threading.current_thread() is threading.main_thread(), []).append(name)

witness = Witness()

async def main():
    {setup}
    sys.meta_path.insert(0, witness)
    try:
        {use}
    except Exception as error:
        print(repr(error), file=sys.stderr)

asyncio.run(main())
print(json.dumps({{"on the loop": witness.threads.get(True, []), "in a thread": len(witness.threads.get(False, []))}}))
"""
MODEL = (
    ("pydantic_ai", "openai", "anthropic", "google"),
    "from moot.agents.llm.model_client import ModelClient",
    'await ModelClient("small", "http://127.0.0.1:9/v1").complete_json("hi", {"type": "object"})',
)
MEMBER = (
    ("pydantic_ai", "openai", "anthropic", "google"),
    "from moot.agents.llm.llm_agent import LlmAgent, LlmMember\n"
    "    from moot.testing import VirtualClock\n"
    "    from tests.agents.turns import chat_turn",
    'async for _ in LlmMember(LlmAgent(model="x", base_url="http://127.0.0.1:9/v1"), VirtualClock()).act(chat_turn()):'
    " break",
)
MCP = (
    ("fastmcp", "mcp"),
    "from moot.agents.llm import mcp\n    from moot.agents.run_environment import RunEnvironment\n"
    "    from moot.config.agent_specs import McpServer",
    'await mcp.list_tools(McpServer(url="http://127.0.0.1:9/mcp"), RunEnvironment())',
)
ACP = (
    ("acp",),
    "from moot.agents.acp.acp_agent import AcpAgent, AcpMember\n"
    "    from moot.agents.run_environment import RunEnvironment\n"
    "    from tests.agents.turns import chat_turn",
    'async for _ in AcpMember(AcpAgent(command=("true",)), "", RunEnvironment()).act(chat_turn()): break',
)


@pytest.mark.parametrize("case", [MODEL, MEMBER, MCP, ACP], ids=["understander", "member", "mcp", "acp"])
def test_a_library_is_not_imported_on_the_loop(case: tuple[tuple[str, ...], str, str]) -> None:
    """The first use finds its modules in another thread; what is found on the loop is a part that is cheap."""
    libraries, setup, use = case
    code = CODE.format(libraries=libraries, setup=setup, use=use)
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    found = json.loads(shown.stdout)
    assert found["in a thread"] > 10, shown.stderr
    assert found["on the loop"] == []
