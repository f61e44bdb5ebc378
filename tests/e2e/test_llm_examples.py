"""The examples with models run as a reader would run them, against a model on loopback."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.fake_models import Asked, Call, Played, Reply, fake_models
from tests.e2e.test_examples import EXAMPLES, MOOT

Moot = Callable[..., subprocess.CompletedProcess[str]]
PLAN = {
    "summary": "Two pages, then one.",
    "tasks": [
        {"id": "hours", "title": "Opening hours", "role": "executor"},
        {"id": "rules", "title": "House rules", "role": "executor"},
        {"id": "page", "title": "The page", "depends_on": ["hours", "rules"], "role": "executor"},
    ],
}


def plays(asked: Asked) -> Played:
    """A model that does what its prompt says."""
    if "Plan the work" in asked.prompt:
        return f"```json\n{json.dumps(PLAN)}\n```"
    if "could act on it" in asked.prompt:  # the team's own prompt
        assert asked.body["response_format"]["type"] == "json_schema"
        return '{"pass": true, "feedback": "Clear."}'
    if "Put the results together" in asked.prompt:
        return "Open on Sundays, 10 to 4. Bring what is broken."
    return "Sundays, 10 to 4."


def hosts(asked: Asked) -> Played:
    """Uses its tool first."""
    if not asked.results:
        return Reply(calls=(Call("opening_hours", {"day": "Sunday"}),))
    return f"On Sunday we are open from {asked.results[0]}. [NEXT: Counter]"


@pytest.fixture
def moot(tmp_path: Path) -> Moot:
    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "MOOT_DATA": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "OPENAI_API_KEY": "k", **more}
        command = [*MOOT, *arguments]
        return subprocess.run(command, cwd=EXAMPLES, env=env, capture_output=True, text=True, timeout=90, check=False)

    return run


def test_models_plan_write_review_and_edit(moot: Moot) -> None:
    """Examples, 08: a plan is confirmed, done side by side, reviewed by the team's own prompt, and put together."""
    with fake_models(plays) as models:
        say = ["--say", "A one-page guide to our repair café", "--answer", "approve"]
        done = moot("run", "08_llm_plan.yaml", *say, OPENAI_BASE_URL=models.url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Open on Sundays, 10 to 4. Bring what is broken." in done.stdout
    assert len(models.asked) == 1 + 3 + 3 + 1
    shown = moot("sessions", "show", done.stderr.split()[-1])
    assert "Σ writer   3 turns · 360 tokens" in shown.stdout


def test_a_model_uses_a_tool_and_hands_over_to_a_function(moot: Moot) -> None:
    """Examples, 09: nothing runs before it is trusted; then tool, model and function work together."""
    say = ["run", "09_llm_chat.yaml", "--say", "[NEXT: Sage] When are you open on Sunday?"]
    with fake_models(hosts) as models:
        refused = moot(*say, OPENAI_BASE_URL=models.url)
        assert (refused.returncode, "sage: python house:opening_hours" in refused.stderr) == (3, True)
        assert moot("trust", "09_llm_chat.yaml", "--yes").returncode == 0
        done = moot(*say, OPENAI_BASE_URL=models.url)
    assert done.returncode == 0, done.stdout + done.stderr
    for line in ("Sage → Counter: On Sunday we are open from 10 to 4.", "Counter: 9 words."):
        assert line in done.stdout
    assert models.asked[0].tools[:1] == ("opening_hours",)
