"""A log of a session with trees that an earlier version wrote still decodes, verifies and folds to the same state.

`python -m tests.core.test_workspace_golden` from the root of the repository writes the files anew. Do that only for a
version that was never released; afterwards a new kind of log is a new file with the next number, and the old ones stay.
"""

import json
from pathlib import Path

import msgspec
import pytest

from moot.core import states
from moot.core.codec import Event, Head, chain, decode, frame, stamp
from moot.core.facts import Fact
from moot.core.flows.plan.plan_events import TaskSentBack
from moot.core.session.commands import End, Post
from moot.core.session.workspace_commands import (
    Comment,
    FailJob,
    ReportRemoved,
    ReportReverted,
    ReportTaken,
    Take,
    Undo,
)
from moot.core.session.workspace_events import WORKSPACE_FACTS
from moot.testing import task
from moot.testing.scenario import AT
from tests.core.teams import fold
from tests.core.workspace_scenario import CALC, WorkspaceScenario, coders, trees_given

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
LOG, FINAL = GOLDEN / "workspace-v1.jsonl", GOLDEN / "workspace-v1.state.json"
SESSION_ID = "golden-workspace-v1"
TEAM = coders(checks=1, has_reviewer=True, max_rework=1)


def play() -> WorkspaceScenario:
    """Two tasks with everything that can happen to them: failed checks, a conflict, a side chosen, taken, undone."""
    story = trees_given(TEAM).plan_of(task("a"), task("b"))
    story.edits("a", "c1").checks("a", 2).edits("a", "c2").checks("a", 0).reviews("a", passes=True)
    story.edits("b", "c3").checks("b", 0).reviews("b", passes=True)
    story.checks_merged("a", 0).merges("a", "m1")
    story.conflicts("b", "calc.py").edits("b", "c4").checks("b", 0).reviews("b", passes=True)
    story.conflicts("b", "calc.py", "README.md").answers("merge_conflict", "ours").merges("b", "m2").aggregates()
    story.answers("take_work", "apply")
    story.when(FailJob(what="take", number=1, detail="you changed the same lines of calc.py", files=("calc.py",)))
    story.when(Take(how="keep"), ReportTaken(number=2, commit="m2", branch="moot/s"))
    story.when(Undo(task_id="b"), ReportReverted(number=3, commit="m3", parent="m2", tree="main", files=(CALC,)))
    story.when(Comment(commit="c2", path="calc.py", lines=(1, 2), text="better", hunk="+a", is_last=False))
    story.when(Post(text="/comment drop"))
    story.when(End(), Take(how="discard"), ReportTaken(number=4, commit="m3"))
    return story.when(ReportRemoved(trees=("main", "a", "b")))


def write() -> None:
    story = play()
    events = stamp(TEAM, SESSION_ID, Head(), story.facts, AT)
    LOG.write_bytes(b"".join(frame(event, "en") + b"\n" for event in events))
    FINAL.write_bytes(msgspec.json.format(states.encode(story.state)) + b"\n")


def read() -> list[Event]:
    """The frames of the file, back to stored bytes: what the encoder added at their end is taken off."""
    events = []
    for line in LOG.read_bytes().splitlines():
        sent = msgspec.json.decode(line)
        kept = ("content", "show_content", "hash") if sent["event"] == "plan.completed" else ("show_content", "hash")
        tail = b"," + msgspec.json.encode({key: sent[key] for key in kept if key in sent})[1:]
        events.append(decode(line.removesuffix(tail) + b"}", sent["hash"]))
    return events


def test_the_golden_log_verifies_and_folds_to_the_golden_state() -> None:
    """Every hash follows from the one before, and the same log gives the same state, version after version."""
    previous = ""
    for event in read():
        previous = chain(previous, event.data)
        assert event.hash == previous
    folded = fold(event.fact for event in read())
    assert folded == states.decode(FINAL.read_bytes())
    assert states.decode(states.encode(folded)) == folded


def test_the_golden_log_has_every_event_of_trees() -> None:
    """A kind of event that is not in it would not be protected."""
    seen = {event.name for event in read()}
    kinds: tuple[type[Fact], ...] = (*WORKSPACE_FACTS, TaskSentBack)
    assert {kind.event for kind in kinds} - seen == set()


@pytest.mark.parametrize("name", ["--output=/tmp/x", "../../x", "x\n", "x y", "x\ndelete refs/heads/main"])
def test_no_event_names_an_option_or_another_place(name: str) -> None:
    """What git and the file system are given of a log are commits, trees and branches, wherever the log comes from."""
    fields = {"commit", "parent", "base", "restored", "tree", "trees", "branch"}
    tried = set()
    for event in read():
        for field in fields & set(event.fact.__struct_fields__) if event.name.startswith("workspace.") else ():
            if field == "branch" and name == "../../x":
                continue  # a branch may have any name that git allows, and is no path
            forged = json.loads(event.data)
            forged["metadata"][field] = [name] if field == "trees" else name
            with pytest.raises(ValueError, match=field):
                decode(json.dumps(forged).encode(), event.hash)
            tried.add(field)
    assert tried >= fields - {"branch"}


def test_the_story_still_leads_to_the_same_facts() -> None:
    """What is decided today is what was decided then."""
    assert [fact.event for fact in play().facts] == [event.name for event in read()]


if __name__ == "__main__":
    write()
