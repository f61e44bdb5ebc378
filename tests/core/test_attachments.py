"""Files that come with a message: what a session takes, what members and understanders are told of them."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core import limits
from moot.core.decide import create, decide
from moot.core.effects import Understand
from moot.core.errors import Refused
from moot.core.flows.registry import flow_of
from moot.core.flows.turns import list_files, plain_input
from moot.core.intake.front_door import semantic_input
from moot.core.outstanding import outstanding
from moot.core.session.attachments import Attachment, FileRef
from moot.core.session.commands import CreateSession, Post
from moot.core.session.events import MessagePosted, StepAsked
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.telling.teller import Teller
from moot.testing import human, make_team, scripted

AT = "2026-01-01T00:00:00.000Z"
SHOT = Attachment(sha256="a" * 64, name="shot.png", media_type="image/png", size=34_000)
NOTES = Attachment(sha256="b" * 64, name="notes.txt", media_type="text/plain", size=12)
TEAM = make_team(human("ann"), scripted("bob", "hello"), scripted("carl", "hello")).team()


def begin(team: Team = TEAM) -> State:
    return create(CreateSession(team=team)).state


def post(text: str, *files: Attachment, **fields: Any) -> Post:
    refs = tuple(FileRef(sha256=file.sha256, name=file.name) for file in files)
    return Post(text=text, attachments=refs, files=files, **fields)


def test_a_message_carries_its_files() -> None:
    """They are facts of the message, remembered with it, and told on lines of their own."""
    state = begin()
    decided = decide(state, post("[NEXT: bob] what is wrong here?", SHOT, NOTES, SHOT), AT)
    (message,) = [fact for fact in decided.facts if isinstance(fact, MessagePosted)]
    assert message.attachments == (SHOT, NOTES)
    assert decided.state.history[-1].attachments == (SHOT, NOTES)
    (turn,) = decided.state.running
    told = plain_input("s_test", decided.state, turn.turn_id, "bob", 0)
    assert list_files((told.message, *told.history)) == [SHOT, NOTES]
    teller = Teller(state)
    lines = [line for fact in decided.facts for line in teller.lines(fact)]
    assert "  📎 shot.png (image/png, 34 kB)" in lines
    assert "  📎 notes.txt (text/plain, 12 B)" in lines


def test_a_picture_alone_is_a_message() -> None:
    """It needs no text, is the newest thing that was said, and names the session."""
    decided = decide(begin(), post("", SHOT, to=("bob",)), AT)
    (turn,) = decided.state.running
    told = plain_input("s_test", decided.state, turn.turn_id, "bob", 0)
    assert told.message is not None
    assert told.message.attachments == (SHOT,)
    assert decided.state.shown_title == "shot.png"
    with pytest.raises(Refused, match="empty_message"):
        decide(begin(), post(""), AT)


def test_what_nobody_has_stored_is_refused() -> None:
    """A hash alone is no file: whoever decides must have seen its content."""
    with pytest.raises(Refused, match="file_unknown"):
        decide(begin(), Post(text="look", attachments=(FileRef(sha256="c" * 64),)), AT)


def test_a_message_has_so_many_files() -> None:
    """One more than the limit is refused."""
    many = [replace(SHOT, sha256=f"{at:064x}") for at in range(limits.ATTACHMENTS + 1)]
    decide(begin(), post("look", *many[:-1]), AT)
    with pytest.raises(Refused, match="too_many_files"):
        decide(begin(), post("look", *many), AT)


def test_a_command_takes_no_files() -> None:
    """They would be lost: it is refused, and nothing happens."""
    with pytest.raises(Refused, match="files_with_command"):
        decide(begin(), post("/end", SHOT), AT)


def test_a_message_with_files_answers_no_question() -> None:
    """An answer could not carry them: it is a message, and the question stays open."""
    state = begin()
    asked = decide(state, Post(text="[NEXT: bob, carl] hi"), AT).state
    asked = decide(asked, Post(text="/queue clear"), AT).state
    (step,) = asked.open_steps
    decided = decide(asked, post("yes", SHOT), AT)
    assert step in decided.state.open_steps
    assert any(isinstance(fact, MessagePosted) and fact.attachments for fact in decided.facts)
    assert not any(isinstance(fact, StepAsked) for fact in decided.facts)


def test_an_understander_sees_the_pictures() -> None:
    """What an input means is asked with its pictures, also if it has no words; other files are not pictures."""
    team = make_team(
        human("ann"),
        replace(scripted("nora", ""), role="planner"),
        scripted("ben", "done"),
        flow="plan",
    ).team()
    for text, raw in (("like this", "like this"), ("", "shot.png, notes.txt")):
        state = decide(begin(team), post(text, SHOT, NOTES), AT).state
        (wanted,) = [effect for effect in outstanding(state) if isinstance(effect, Understand)]
        assert wanted.input.attachments == (SHOT, NOTES)
        request = semantic_input(state, wanted.input.text, flow_of(state), wanted.input.attachments)
        assert request.raw_input == raw
        assert [(image.sha256, image.name) for image in request.images] == [(SHOT.sha256, "shot.png")]
