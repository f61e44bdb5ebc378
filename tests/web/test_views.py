"""The page shows what the core projects: it merges the patches of a connection to exactly the view, event by event."""

import json
import subprocess
from typing import Any

import msgspec
from hypothesis import Phase, given, settings
from playwright.sync_api import expect

from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.session.state import State
from moot.core.view import project
from moot.protocol.merge import Document, diff, to_document
from tests.core import test_properties as chat
from tests.core import test_supervisor_properties as supervised
from tests.core.plan_moves import histories
from tests.core.test_plan_properties import opening, play, teams
from tests.web.conftest import Open
from tests.web.node import NODE, ROOT, needs_node
from tests.web.server import Server
from tests.web.talking import card, column, say

Frame = dict[str, Any]


def documents_of(facts: list[Fact]) -> list[Document]:
    documents: list[Document] = []
    state: State | None = None
    for fact in facts:
        state = evolve(state, fact)
        documents.append(msgspec.json.decode(msgspec.json.encode(to_document(project(state)))))
    return documents


def patches_of(documents: list[Document]) -> list[Frame]:
    patches = []
    for seq, document in enumerate(documents, start=1):
        before = documents[seq - 2] if seq > 1 else {}
        metadata = {"seq": seq, "whole": seq == 1, "view": diff(before, document)}
        patches.append({"event": "session.view", "session_id": "s", "metadata": metadata})
    return patches


@needs_node
def test_patches_add_up_on_the_page() -> None:
    """Made-up sessions of all three flows: after every event the page has the view of the log up to there."""
    sessions: list[list[Document]] = []

    @settings(max_examples=10, phases=[Phase.generate], deadline=None, database=None)
    @given(chat.teams, chat.histories)
    def talk(team: Any, parts: Any) -> None:
        sessions.append(documents_of(chat.play(team, [*parts[0], *parts[1]])[0]))

    @settings(max_examples=10, phases=[Phase.generate], deadline=None, database=None)
    @given(teams, histories)
    def plan(team: Any, history: Any) -> None:
        sessions.append(documents_of(play(team, [opening[0], *history])[0]))

    @settings(max_examples=10, phases=[Phase.generate], deadline=None, database=None)
    @given(supervised.teams, supervised.histories)
    def supervise(team: Any, parts: Any) -> None:
        sessions.append(documents_of(supervised.play(team, [*supervised.begin, *parts[0], *parts[1]])[0]))

    talk()
    plan()
    supervise()
    lines = "".join(json.dumps(patches_of(documents)) + "\n" for documents in sessions)
    command = [NODE or "", str(ROOT / "tests" / "web" / "js" / "merge_views.mjs")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    for documents, line in zip(sessions, done.stdout.split("\n")[:-1], strict=True):
        assert json.loads(line) == documents


def test_the_page_shows_the_board_that_rest_tells(open_page: Open, server: Server) -> None:
    """The tasks of a plan stand on the page as the view of the session has them."""
    session_id = server.create("work")
    page = open_page(session_id)
    say(page, "Make a booklet")
    card(page).get_by_role("button", name="Approve").click()
    page.locator("#tab-tasks").click()
    expect(column(page, "done").locator(".task")).to_have_count(3)
    state = server.client.get(f"/api/sessions/{session_id}").json()["state"]
    titles = [state["work"]["tasks"][task_id]["task"]["title"] for task_id in state["work"]["order"]]
    assert column(page, "done").locator(".task b").all_text_contents() == titles
    assert {row["state"] for row in state["work"]["tasks"].values()} == {"DONE"}
