"""Every example runs and prints what a reader expects."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
MOOT = [sys.executable, "-m", "moot.cli.main"]

COMMANDS: dict[str, list[str]] = {
    "01_chat.py": [sys.executable, "01_chat.py"],
    "02_python_agent.py": [sys.executable, "02_python_agent.py"],
    "03_test_a_team.py": [sys.executable, "-m", "pytest", "03_test_a_team.py"],
    "04_team.yaml": [
        *MOOT,
        "run",
        "04_team.yaml",
        "--say",
        "[NEXT: Bob] A poster, please.",
        "/retry",
        "Thanks. [DONE]",
    ],
    "05_support_desk.yaml": [*MOOT, "run", "05_support_desk.yaml", "--say", "The kettle of order 1187 leaks."],
    "07_steer_a_plan.py": [sys.executable, "07_steer_a_plan.py"],
}
ELSEWHERE = {
    "06_three_clis.yaml",  # tests/agents/test_real_clis.py: with the real CLIs and a model on loopback
    "10_coding_team.yaml",  # tests/docs/test_made.py: in a repository of its own
    *("08_llm_plan.yaml", "09_llm_chat.yaml", "house.py"),  # tests/e2e/test_llm_examples.py: with a model on loopback
}
LINES = {
    "01_chat.py": ["ann: A poster, please.", "carol: Add the hours.", "paused, waiting for ann"],
    "02_python_agent.py": ["counter: 3 words.", "  (shouter thinks: 2 messages so far)"],
    "03_test_a_team.py": ["3 passed"],
    "04_team.yaml": [
        "Agent Bob encountered an error: the printer's server does not answer",
        "Bob → Carol: Sundays, 10 to 4. The first coffee is free.",
        "■ The session is over",
    ],
    "05_support_desk.yaml": [
        "↪ What Refund needs is missing: Triage acts first",
        "✓ The review approves",
        "    We are sorry about the leak, and about your laptop. A new seal is on its way, free of charge.",
    ],
    "07_steer_a_plan.py": [
        "plan: With a map: Write, Draw, Add a map",
        "asked: confirm_plan_p2: approve, reject",
        "changed: art",
        "done: Draw in blue",
        "answer: The leaflet is ready.",
    ],
}


def test_every_example_is_run() -> None:
    """One that no test runs is one that does not work."""
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert files == {*COMMANDS, *ELSEWHERE, "README.md"}
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(files) if f"({name})" not in listed] == ["README.md"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_runs(name: str, tmp_path: Path) -> None:
    """Each ends with exit 0 and says what it is there to show."""
    env = {**os.environ, "MOOT_DATA": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        COMMANDS[name], cwd=EXAMPLES, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in LINES[name] if line not in done.stdout] == []
