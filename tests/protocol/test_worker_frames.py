"""The wire between servers and workers."""

import pytest
from msgspec.structs import replace

from moot.core.session.commands import AckDispatch, CompleteTurn, ReportSpending, ReportStep, StartTask
from moot.core.session.usage import Usage
from moot.core.session.workspace_commands import ReportChange, ReportTree
from moot.protocol.worker_frames import (
    CHUNK_CHARS,
    Assembly,
    ReportJob,
    encode,
    read_commands,
    read_from_worker,
    write_commands,
)


def test_a_long_frame_is_sent_in_parts_and_put_together() -> None:
    """A server takes no message of more than a quarter of a megabyte; a result may be longer."""
    long = CompleteTurn(turn_id="t1", text="好" * 3 * CHUNK_CHARS)
    frame = ReportJob(job=1, attempt=2, number=3, commands=write_commands([long]))
    messages = encode(frame)
    assert len(messages) > 3
    assert all(len(message.encode()) <= 256 * 1024 for message in messages)
    assembly = Assembly()
    texts = [assembly.take(message) for message in messages]
    assert texts[:-1] == [None] * (len(messages) - 1)
    read = read_from_worker(texts[-1] or "")
    assert read == frame
    assert isinstance(read, ReportJob)
    assert read_commands(read.commands, "t1", "bob") == [long]


def test_a_worker_reports_about_its_own_turn_only() -> None:
    """Whatever else it sends is refused: another turn, a command of people, nothing."""
    mine = (
        AckDispatch(dispatch_id="d1"),
        StartTask(dispatch_id="d1"),
        ReportStep(turn_id="d1", action="look"),
        ReportSpending(turn_id="d1", member="bob", usage=Usage(cost_usd=1.0)),
    )
    assert read_commands(write_commands(mine), "d1", "bob") == list(mine)
    for wrong in (
        write_commands([CompleteTurn(turn_id="t2", text="")]),
        write_commands([ReportSpending(turn_id="d1", member="eve", usage=Usage(cost_usd=1.0))]),
        ({"type": "Post", "text": "hello"},),
        ({"type": "CompleteTurn", "turn_id": "d1", "text": 5},),
        (),
    ):
        with pytest.raises(ValueError, match=r".+"):
            read_commands(wrong, "d1", "bob")


@pytest.mark.parametrize("name", ["--output=/etc/x", "HEAD", "", "a" * 39, f"{'a' * 40} "])
def test_a_worker_names_commits_by_their_hash(name: str) -> None:
    """Git is given them on its command line: an option there would write a file."""
    commit = "a" * 40
    tree = ReportTree(turn_id="t1", tree="main", branch="b", base=commit)
    change = ReportChange(turn_id="t1", tree="main", commit=commit, parent=commit, files=())
    assert read_commands(write_commands([tree, change]), "t1", "bob") == [tree, change]
    for wrong in (replace(tree, base=name), replace(change, commit=name), replace(change, parent=name)):
        with pytest.raises(ValueError, match=r"commit|base|parent"):
            read_commands(write_commands([wrong]), "t1", "bob")


@pytest.mark.parametrize("name", ["../../x", "/etc", ".git", "-x", "", "main\n"])
def test_a_worker_names_trees_that_are_folders_of_the_session(name: str) -> None:
    """A tree is a folder on the server, and is removed with its session."""
    commit = "a" * 40
    tree = ReportTree(turn_id="t1", tree=name, branch="b", base=commit)
    change = ReportChange(turn_id="t1", tree=name, commit=commit, parent=commit, files=())
    for wrong in (tree, change, replace(tree, tree="main", branch="--x")):
        with pytest.raises(ValueError, match=r"tree|branch"):
            read_commands(write_commands([wrong]), "t1", "bob")


@pytest.mark.parametrize("message", ["", "{}", ".", ".[]", '.{"event":"worker.nothing"}', '.{"event":"job.report"}'])
def test_what_is_no_frame_is_refused(message: str) -> None:
    """With ValueError, whatever it is."""
    with pytest.raises(ValueError, match=r".+"):
        read_from_worker(Assembly().take(message) or "")
