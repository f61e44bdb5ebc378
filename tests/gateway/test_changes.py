"""REST: what the work of a session changed, to those who may read the session."""

from pathlib import Path
from typing import Any

from moot.config.loading import load_team
from moot.core import limits
from moot.core.session.principal import Role
from tests.gateway.sites import Site, code_of, open_site
from tests.runtime.apps import has, run
from tests.runtime.workspaces.repositories import BOTH, CALC, MUL, SUB, chat_team, make_repository, plan_team, say

LONG = "a line of words\n" * 8_000
FIRST: dict[str, Any] = {"text": "one", "files": {"calc.py": MUL, "新 文件.txt": LONG}}
SECOND: dict[str, Any] = {"text": "two", "files": {"calc.py": BOTH, **{f"many/{n:03}": "x\n" for n in range(250)}}}


async def _get(site: Site, session_id: str, what: str, **query: Any) -> Any:
    async with site.client() as client:
        answer = await client.get(f"/api/sessions/{session_id}/{what}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


@run
async def test_changes_of_the_whole_and_of_a_turn(tmp_path: Path) -> None:
    """Files come in pages with counts of all; the whole is what all turns did together, a turn what it did alone."""
    top, team = make_repository(tmp_path / "repo"), load_team(chat_team(FIRST, SECOND))
    async with open_site(tmp_path / "data", team, folders={"pair": top}) as site:
        session = await site.app.session()
        await say(session, "[NEXT: bob] one")
        first = await _get(site, session.id, "changes")
        assert [(file["path"], file["status"], file["added"], file["removed"]) for file in first["files"]] == [
            ("calc.py", "modified", 4, 0),
            ("新 文件.txt", "added", 8_000, 0),
        ]
        assert (first["total"], first["added"], first["removed"], first["next_offset"]) == (2, 8_004, 0, None)
        await say(session, "[NEXT: bob] two")
        whole = await _get(site, session.id, "changes")
        assert (whole["total"], len(whole["files"]), whole["next_offset"]) == (252, limits.CHANGED_FILES, 200)
        rest = await _get(site, session.id, "changes", offset=200)
        assert (len(rest["files"]), rest["offset"], rest["next_offset"]) == (52, 200, None)
        assert whole["base"] == first["base"]
        turn = await _get(site, session.id, "changes", turn="t2")
        assert (turn["total"], turn["base"], turn["commit"]) == (251, first["commit"], whole["commit"])
        view = (await session.view()).workspace
        assert view
        assert (view.base, view.head, view.has_work) == (whole["base"], whole["commit"], True)


@run
async def test_the_diff_of_a_file_in_pages(tmp_path: Path) -> None:
    """A unified diff, cut into pages of characters that together are the whole."""
    top, team = make_repository(tmp_path / "repo"), load_team(chat_team(FIRST))
    async with open_site(tmp_path / "data", team, folders={"pair": top}) as site:
        session = await site.app.session()
        await say(session, "[NEXT: bob] one")
        diff = await _get(site, session.id, "diff", path="calc.py", turn="t1")
        assert diff["text"].endswith(
            "@@ -1,2 +1,6 @@\n def add(a, b):\n     return a + b\n+\n+\n+def mul(a, b):\n+    return a * b\n"
        )
        assert (diff["path"], diff["status"], diff["next_offset"]) == ("calc.py", "modified", None)
        assert set(diff) >= {"base", "commit", "added", "removed", "was", "is_binary", "offset"}
        pages, offset = [], 0
        while offset is not None:
            page = await _get(site, session.id, "diff", path="新 文件.txt", offset=offset)
            pages.append(page["text"])
            offset = page["next_offset"]
        assert len(pages) == 2
        assert "".join(pages).count("+a line of words\n") == 8_000


@run
async def test_changes_of_a_task_are_its_own(tmp_path: Path) -> None:
    """What a task's tree got from others is not part of them; the board shows tree, branch, lines and checks."""
    tasks: list[dict[str, Any]] = [
        {"id": "mul", "title": "add mul"},
        {"id": "sub", "title": "add sub", "depends_on": ["mul"]},
    ]
    scripts = {
        "mul": [{"text": "mul", "files": {"calc.py": MUL}}],
        "sub": [{"text": "sub", "files": {"sub.py": SUB}}],
    }
    team = load_team(plan_team(tasks, scripts, workspace={"check": [["true"]]}))
    top = make_repository(tmp_path / "repo")
    async with open_site(tmp_path / "data", team, folders={"coders": top}) as site:
        session = await site.app.session()
        await say(session, "extend the calculator")
        changed = await _get(site, session.id, "changes", task="sub")
        assert [file["path"] for file in changed["files"]] == ["sub.py"]
        async with site.client() as client:
            document = (await client.get(f"/api/sessions/{session.id}")).json()["state"]
        tree = document["work"]["tasks"]["mul"]["tree"]
        assert (tree["branch"], tree["stage"], tree["place"]) == (f"moot/{session.id}/mul", "merged", None)
        assert (tree["added"], tree["removed"], tree["files"]) == (4, 0, 1)
        assert tree["checks"] == [{"command": "true", "exit": 0}]
        assert document["workspace"]["branch"] == f"moot/{session.id}/main"


@run
async def test_who_may_not_read_the_session_is_told_nothing(tmp_path: Path) -> None:
    """A token of another session gets the answer of a session that does not exist; a viewer of this one reads."""
    top, team = make_repository(tmp_path / "repo"), load_team(chat_team(FIRST))
    async with open_site(tmp_path / "data", team, folders={"pair": top}) as site:
        session, other = await site.app.session(), await site.app.session()
        await say(session, "[NEXT: bob] one")
        viewer, _ = site.issue(Role.VIEWER, session_id=session.id)
        stranger, _ = site.issue(Role.VIEWER, session_id=other.id)
        for what in ("changes", "diff?path=calc.py"):
            async with site.client(viewer) as client:
                assert (await client.get(f"/api/sessions/{session.id}/{what}")).status_code == 200
            async with site.client(stranger) as client:
                answer = await client.get(f"/api/sessions/{session.id}/{what}")
                assert (answer.status_code, code_of(answer)) == (404, "not_found")
            async with site.client(None) as client:
                assert (await client.get(f"/api/sessions/{session.id}/{what}")).status_code == 401


@run
async def test_what_cannot_be_read_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """Each reason has a code of its own; a path that leads out of the tree is just not one of the changed files."""
    top, team = make_repository(tmp_path / "repo"), load_team(chat_team(FIRST))
    async with open_site(tmp_path / "data", team, folders={"pair": top}) as site:
        session = await site.app.session()

        async def refused(what: str, **query: Any) -> tuple[int, str]:
            async with site.client() as client:
                answer = await client.get(f"/api/sessions/{session.id}/{what}", params=query)
            return answer.status_code, code_of(answer)

        assert await refused("changes") == (404, "session_without_changes")
        worked = (await say(session, "[NEXT: bob] one"))[-1].seq
        assert await refused("changes", turn="t9") == (404, "turn_without_changes")
        assert await refused("changes", task="none") == (404, "task_without_changes")
        assert await refused("changes", task="a", turn="t1") == (400, "bad_field")
        assert await refused("changes", offset="-1") == (400, "bad_field")
        assert await refused("diff") == (400, "bad_field")
        for path in ("../../../etc/passwd", "/etc/passwd", "calc.py/../calc.py", ":/", "*", ".git/config"):
            assert await refused("diff", path=path) == (404, "file_not_changed")
        await site.command(session.id, "user.take", how="discard")
        await has(site.app, session, "workspace.taken")
        await site.command(session.id, "user.end")
        await has(site.app, session, "workspace.removed")
        assert await refused("changes") == (404, "trees_gone")
        path = f"/api/sessions/{session.id}/fork"
        async with site.client() as client:
            answers = [await client.post(path, json=at) for at in ({"at": worked}, {})]
            assert [answer.status_code for answer in answers] == [404, 201]
            assert code_of(answers[0]) == "trees_gone"
            assert len((await client.get("/api/sessions")).json()) == 2
        assert (top / "calc.py").read_text() == CALC
