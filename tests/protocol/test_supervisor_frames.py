"""Answers of the supervisor flow on the wire: read wherever they stand, refused when they have the wrong form."""

from typing import Any

import pytest

from moot.core.session.commands import Answer
from moot.core.session.principal import Principal, Role
from moot.protocol.command_table import ClientFrame, read_command, write_command
from moot.protocol.protocol_errors import ProtocolError

ANN = Principal(token_id="t_1", role=Role.MEMBER, member="ann")
ANSWER: dict[str, Any] = {"selected_ids": ["a", "b"], "custom_input": "my aunt", "state": {"text": {"body": "x"}}}


@pytest.mark.parametrize("place", ["top", "metadata", "content"])
def test_an_answer_is_read_wherever_it_stands(place: str) -> None:
    """In client frames every field may stand at top level, in metadata, or in content."""
    fields = ANSWER if place == "top" else {place: ANSWER}
    command = read_command(ClientFrame({"event": "user.response", "step_id": "s1", **fields}), ANN)
    assert command == Answer(
        step_id="s1",
        by="ann",
        principal=ANN,
        selected_ids=("a", "b"),
        custom_input="my aunt",
        state={"text": {"body": "x"}},
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("selected_ids", "a"), ("selected_ids", [1]), ("selected_ids", {}), ("custom_input", 7), ("state", [1])],
)
def test_the_wrong_form_is_refused(field: str, value: Any) -> None:
    """Strict as to form; the sentence names the field."""
    with pytest.raises(ProtocolError, match="bad_field") as caught:
        read_command(ClientFrame({"event": "user.response", "step_id": "s1", field: value}), None)
    assert caught.value.params["detail"] == field


def test_a_client_sends_what_the_server_reads() -> None:
    """Both halves agree, also on an edited plan."""
    sent = Answer(
        step_id="s1", confirmed=True, tasks=({"id": "a", "title": "A"},), **{**ANSWER, "selected_ids": ("a",)}
    )
    frame = write_command(sent)
    frame = {key: list(value) if isinstance(value, tuple) else value for key, value in frame.items()}  # as JSON
    assert read_command(ClientFrame(frame), None) == sent
