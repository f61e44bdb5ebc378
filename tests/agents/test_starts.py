"""What trust is asked for is everything that would run, and nothing else."""

from pathlib import Path

from msgspec.structs import replace

from moot.agents.acp.acp_agent import AcpAgent
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.llm.llm_agent import LlmAgent
from moot.agents.python import PythonAgent
from moot.agents.starts import list_starts
from moot.config.agent_specs import AgentSpec, McpServer
from moot.config.loading import list_built_in_teams, load_team
from moot.config.team_file import MemberSpec, Understanding
from moot.core.session.team import Kind
from moot.testing import human, make_team, scripted

FULL = Path(__file__).parents[1] / "data" / "teams" / "good" / "full.yaml"


def test_an_agent_that_only_understands_is_listed_first() -> None:
    """Trust is asked for what understands inputs, too."""
    understanding = Understanding(type="agent", agent=CliAgent(command=("./understand.sh",)))
    starts = list_starts(replace(make_team(human("you"), scripted("bob")), understanding=understanding))
    assert [(start.member, start.argv) for start in starts] == [("understanding", ("./understand.sh",))]


def test_every_kind_that_runs_something_is_listed() -> None:
    """Programs of cli, acp and mcp, and addresses elsewhere; Python code of agents and tools."""
    agents: list[AgentSpec] = [
        CliAgent(command=("./run.sh",), cwd="sub", env=("MY_KEY",)),
        CliAgent(preset="gemini", permissions="all"),
        AcpAgent(command=("agent", "--acp")),
        PythonAgent(call="a.b:c"),
        LlmAgent(
            model="x:y", tools=("t.u:v",), mcp=(McpServer(command=("server",), env=("S",)), McpServer(url="http://x"))
        ),
    ]
    members = [MemberSpec(id=f"m{at}", kind=Kind.AI, agent=agent) for at, agent in enumerate(agents)]
    assert [str(start) for start in list_starts(make_team(human("alice"), *members))] == [
        "m0: ./run.sh  (in sub)  (sees MY_KEY)",
        "m1: gemini -o stream-json --approval-mode yolo",
        "m2: agent --acp",
        "m3: python a.b:c",
        "m4: python t.u:v",
        "m4: server  (sees S)",
        "m4: ask http://x",
    ]


def test_tools_between_turns_are_listed() -> None:
    """What Moot runs for a member of the supervisor flow is started like anything else."""
    servers = (McpServer(command=("server",)), McpServer(url="https://tools.example/mcp", key="K"))
    artist = MemberSpec(id="m", kind=Kind.AI, tools=("t.u:v",), mcp=servers, agent=LlmAgent(model="x:y"))
    assert [str(start) for start in list_starts(make_team(human("alice"), artist))] == [
        "m: python t.u:v",
        "m: server",
        "m: ask https://tools.example/mcp  (sees K)",
    ]


def test_scripts_and_plain_models_need_no_trust() -> None:
    """A team that starts nothing opens at once; so do the built-in demos."""
    model = MemberSpec(id="m", kind=Kind.AI, agent=LlmAgent(model="x:y"))
    assert list_starts(make_team(human("alice"), scripted("bob"), model)) == []
    demos = [name for name in list_built_in_teams() if name.endswith("-demo")]
    assert [list_starts(load_team(name)) for name in demos] == [[]] * 3


def test_nothing_of_a_full_team_file_is_forgotten() -> None:
    """Whatever names a command or code in the file of all kinds is listed."""
    shown = "\n".join(map(str, list_starts(load_team(FULL))))
    assert "claude: claude -p" in shown
    assert "package.module:function" in shown


def test_a_key_that_goes_to_a_foreign_address_is_asked_about() -> None:
    """A team file could send a person's key anywhere; a local server that gets no key needs no trust."""
    agents = [
        LlmAgent(model="openai:x", base_url="https://models.example/v1"),
        LlmAgent(model="x", base_url="http://127.0.0.1:11434/v1"),
        LlmAgent(model="x", base_url="http://localhost:8000"),
        LlmAgent(model="x", base_url="http://127.0.0.1.example/v1", key="MY_KEY"),
        LlmAgent(model="x", base_url="http://localhost:8000", key="MY_KEY"),
        LlmAgent(model="openai:x", base_url="http://localhost:8000"),
        LlmAgent(
            model="openai:x", mcp=(McpServer(url="http://[::1]:80/mcp"), McpServer(url="http://[::1]/mcp", key="K"))
        ),
    ]
    members = [MemberSpec(id=f"m{at}", kind=Kind.AI, agent=agent) for at, agent in enumerate(agents)]
    team = replace(
        make_team(human("alice"), *members),
        understanding=Understanding(type="llm", model="anthropic:y", base_url="https://else.example"),
    )
    assert [str(start) for start in list_starts(team)] == [
        "understanding: ask https://else.example  (sees ANTHROPIC_API_KEY)",
        "m0: ask https://models.example/v1  (sees OPENAI_API_KEY)",
        "m3: ask http://127.0.0.1.example/v1  (sees MY_KEY)",
        "m4: ask http://localhost:8000  (sees MY_KEY)",
        "m5: ask http://localhost:8000  (sees OPENAI_API_KEY)",
        "m6: ask 'http://[::1]/mcp'  (sees K)",
    ]
