"""Inputs that people give with a message become part of the shared state."""

import json
from typing import Any

import pytest

from moot.core.flows.supervisor.state_update import VALUE_BYTES
from moot.core.flows.supervisor.supervisor_events import StateUpdated
from moot.core.session.commands import Post
from moot.protocol.command_table import read_command, read_frame, write_command
from moot.testing import given as scene
from tests.core.studio import BODY
from tests.core.teams import make_chat_team, only
from tests.core.test_supervisor_flow import BRIEF, started, studio

IMAGES = {"referenceImages": ["https://pictures/1.png"], "layoutPreference": "one column"}


def test_a_message_carries_inputs_for_the_job_that_it_begins() -> None:
    """The state starts with them, and the supervisor sees them as done."""
    session = studio().when(Post(text="a post", inputs=IMAGES)).understands("different_task")
    assert only(session.facts, StateUpdated)[0].changes == IMAGES
    assert session.shared["layoutPreference"] == "one column"
    assert session.shared["referenceImages"] == ["https://pictures/1.png"]
    assert session.shared["imageGenProvider"] is None


def test_inputs_of_a_later_message_change_the_running_job() -> None:
    """They count at once, for whoever acts next."""
    session = started().decides("brief_compiler_agent")
    session = session.when(Post(text="in one column, please", inputs={"layoutPreference": "one column"}))
    assert session.shared["layoutPreference"] == "one column"
    assert session.job.writers["layoutPreference"] == "you"


def test_the_next_job_starts_without_the_inputs_of_the_last() -> None:
    """Inputs are used up by the job that they began."""
    session = studio().when(Post(text="a post", inputs=IMAGES)).understands("different_task")
    session = session.decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=BODY)
    session = session.decides("END")
    assert session.starts("another one").shared["layoutPreference"] is None


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"generatedContent": {"body": "mine"}}, "unknown_input"),
        ({"iterationCount": 9}, "unknown_input"),
        ({"layoutPreference": "x" * VALUE_BYTES}, "bad_input"),
        ({"layoutPreference": float("nan")}, "bad_input"),
    ],
)
def test_what_people_may_not_give_is_refused(inputs: dict[str, Any], code: str) -> None:
    """Only declared inputs, only plain data of bounded size; the whole message is refused."""
    session = studio().when(Post(text="a post", inputs=inputs))
    assert session.refusal is not None
    assert (session.refusal.code, session.new) == (code, [])


def test_other_flows_take_no_inputs() -> None:
    """A chat has no shared state."""
    session = scene(make_chat_team()).when(Post(text="hello", inputs={"a": 1}))
    assert session.refusal is not None
    assert session.refusal.code == "no_inputs"


def test_inputs_travel_in_the_frame() -> None:
    """What a client sends is what the session gets."""
    command = Post(text="a post", inputs=IMAGES)
    assert write_command(command) == {"event": "user.message", "content": "a post", "inputs": IMAGES}
    frame = read_frame(json.dumps(write_command(command)))
    assert read_command(frame, None) == command
