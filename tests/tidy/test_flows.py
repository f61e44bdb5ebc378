"""A flow is a package and a line in the registry, so no other code names a flow or asks which one a session has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.core.flows.registry import FLOWS
from tests.tidy.sources import PACKAGE, ROOT, list_python_files, parse, place

HOME = "src/moot/core/flows/"
# What belongs to one flow and stands outside of its package, because of the layer that it is in.
MAY_IMPORT = {
    "src/moot/agents/context.py": "the words that an assignment and a brief become",
    "src/moot/agents/script.py": "scripts that stand in for an evaluation",
    "src/moot/agents/supervised.py": "the words that a brief becomes",
    "src/moot/cli/routes/": "`moot route` tries the rules of one flow without a session",
    "src/moot/cli/run.py": "`moot run` exits by what became of the tasks",
    "src/moot/commands.py": "the public names",
    "src/moot/config/quantities.py": "bounds of the settings of every flow",
    "src/moot/config/supervisor_rules.py": "rules of a section of the team file",
    "src/moot/config/team_file.py": "the sections of the team file",
    "src/moot/events.py": "the public names",
    "src/moot/protocol/command_table.py": "the table of commands has those of every flow",
    "src/moot/testing/": "scenarios of one flow each",
    "src/moot/tui/": "the panels of a plan and of a supervisor's job",
}
# The same words with another meaning: a command, a kind of question, a section of the team file.
MAY_NAME = {
    "src/moot/agents/acp/updates.py": "a kind of update of the Agent Client Protocol",
    "src/moot/agents/cli/acp_presets.py": "an agent of opencode that changes nothing",
    "src/moot/agents/cli/codex_live.py": "a field of Codex's protocol",
    "src/moot/agents/context.py": "a job and a prompt",
    "src/moot/agents/answer_shapes.py": "a job",
    "src/moot/cli/": "the command `moot chat`; `moot demo` and `moot route` have one module for each of their flows",
    "src/moot/config/plan_rules.py": "rules of one flow's teams",
    "src/moot/config/supervisor_rules.py": "rules of one flow's teams",
    "src/moot/config/team_rules.py": "a section of the team file",
    "src/moot/core/session/typed_answers.py": "a kind of question",
    "src/moot/runtime/summaries.py": "a kind of question",
    "src/moot/runtime/telemetry.py": "an operation of the OpenTelemetry conventions",
    "src/moot/testing/plan_scenario.py": "a job",
    "src/moot/tui/panes/": "what a session needs of people",
    "src/moot/tui/questions/cards.py": "a kind of question",
    "src/moot/tui/screens/inbox_screen.py": "a kind of question",
}
OUTSIDE = [path for path in list_python_files(PACKAGE) if not place(path).startswith(HOME)]
SCRIPTS = sorted((ROOT / "web" / "js").rglob("*.[jt]s"))


def is_allowed(path: Path, table: dict[str, str]) -> bool:
    return place(path).startswith(tuple(table))


def find_imports(path: Path) -> Iterator[str]:
    packages = tuple(f"moot.core.flows.{name}" for name in FLOWS)
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(packages):
            yield f"{place(path)}:{node.lineno} {node.module}"


def find_names(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Constant) and node.value in FLOWS:
            yield f"{place(path)}:{node.lineno} {node.value!r}"


def find_comparisons(path: Path) -> Iterator[str]:
    """Comparisons of anything called `flow`, or of its attribute, with a name."""
    for node in ast.walk(parse(path)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        asks = any(getattr(side, "attr", getattr(side, "id", "")) == "flow" for side in sides)
        if asks and any(isinstance(side, ast.Constant) for side in sides):
            yield f"{place(path)}:{node.lineno}"


def test_only_flows_import_the_parts_of_a_flow() -> None:
    """The kernel, the engine, the gateway and the client import the registry; what differs is asked of the flow."""
    assert [found for path in OUTSIDE if not is_allowed(path, MAY_IMPORT) for found in find_imports(path)] == []


def test_only_flows_name_a_flow() -> None:
    """Outside of the flows no string is a flow's name, unless the word means something else there."""
    assert [found for path in OUTSIDE if not is_allowed(path, MAY_NAME) for found in find_names(path)] == []


def test_nobody_asks_which_flow_a_session_has() -> None:
    """No code compares a flow with a name: the view and the flow say what differs."""
    assert [found for path in OUTSIDE for found in find_comparisons(path)] == []


def test_the_page_asks_no_flow_for_its_name() -> None:
    """The page reads from the view what differs."""
    asks = re.compile(rf"""flow\b[^;,]*["'`](?:{"|".join(FLOWS)})["'`]""")
    assert len(SCRIPTS) > 30
    assert [place(path) for path in SCRIPTS if asks.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(("table", "finds"), [(MAY_IMPORT, find_imports), (MAY_NAME, find_names)])
def test_no_exception_is_left_over(table: dict[str, str], finds: object) -> None:
    """Every place of the lists of exceptions needs to be there."""
    assert callable(finds)
    used = {entry for entry in table for path in OUTSIDE if place(path).startswith(entry) and any(finds(path))}
    assert used == set(table)
