"""`moot sessions diff`, `open` and `take`: the files of a session, here and on a server."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.core.session.workspace_events import WorkspaceChanged, WorkspaceConflicted, WorkspaceMerged, WorkspaceOpened
from moot.runtime.workspaces import handing_over
from tests.cli.command import Moot
from tests.cli.serving import serving
from tests.runtime.workspaces.repositories import BOTH, CALC, MUL, SUB, chat_team, git, make_repository, plan_team

DIFF = "@@ -1,2 +1,6 @@\n def add(a, b):\n     return a + b\n+\n+\n+def mul(a, b):\n+    return a * b\n"


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a team in a repository; its member writes into two files, one turn each."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    top = make_repository(tmp_path / "repo")
    replies = {"text": "1", "files": {"calc.py": MUL}}, {"text": "2", "files": {"sub.py": SUB}}
    (top / "team.yaml").write_text(yaml.safe_dump(chat_team(*replies)))
    return top / "team.yaml"


def test_the_work_of_a_session_is_shown_opened_and_taken(moot: Moot, team: Path) -> None:
    """The whole and one turn as a diff, files with counts, the folder of the tree; taking changes one's files."""
    session_id, _ = moot.talk("[NEXT: bob] one", "[NEXT: bob] two", team=str(team))
    whole = moot("sessions", "diff", session_id)
    assert (whole.code, whole.err) == (0, "")
    assert DIFF in whole.out
    assert "+++ b/sub.py" in whole.out
    assert moot("sessions", "diff", session_id, "--turn", "1").out.endswith(DIFF)
    stat = moot("sessions", "diff", session_id, "--stat").lines
    assert stat == ["modified         +4 −0  calc.py", "added            +6 −0  sub.py", "2 files, +10 −0"]
    tree = Path(moot("sessions", "open", session_id).out.strip())
    assert (tree / "sub.py").read_text() == SUB
    missing = moot("sessions", "open", session_id, "--task", "x")
    assert (missing.code, missing.err.count("there are: main")) == (4, 1)
    assert (team.parent / "calc.py").read_text() == CALC
    (tree / "note").write_text("mine\n")
    assert moot("sessions", "take", session_id, "--apply") == (0, "", "")
    assert (team.parent / "calc.py").read_text() == MUL
    assert (team.parent / "note").read_text() == "mine\n"
    again = moot("sessions", "take", session_id, "--apply")
    assert again.err == "moot: There is no change that you do not have already\n"


def test_work_that_does_not_fit_is_refused_with_the_file(moot: Moot, team: Path) -> None:
    """The exit code says it, and the person's file stays as it is."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    mine = f"{CALC}\n\ndef div(a, b):\n    return a / b\n"
    (team.parent / "calc.py").write_text(mine)
    said = moot("sessions", "take", session_id, "--apply")
    assert said.code != 0
    assert "nothing was taken: it does not apply to your files: you changed the same lines of calc.py" in said.err
    assert (team.parent / "calc.py").read_text() == mine


def test_a_server_shows_and_gives_the_work_too(moot: Moot, team: Path) -> None:
    """With --connect, and without it while the server holds the data; `take` returns when the work is there."""
    with serving(moot.data, str(team), cwd=team.parent) as server:
        session_id = server.create()
        server.say(session_id, "[NEXT: bob] one")
        server.has(session_id, "session.paused")
        connect = "--connect", server.url.strip()
        assert moot("sessions", "diff", session_id, *connect).out.endswith(DIFF)
        stat = moot("sessions", "diff", session_id, "--stat", *connect).lines
        assert stat == ["modified         +4 −0  calc.py", "1 file, +4 −0"]
        assert moot("sessions", "diff", session_id).out.endswith(DIFF)
        assert moot("sessions", "take", session_id, "--keep").code == 0
        branches = git(team.parent, "for-each-ref", "--format=%(refname:short)", "refs/heads")
        assert branches.split("\n") == ["main", f"moot/{session_id}"]
        server.say(session_id, "[NEXT: bob] two")
        server.has(session_id, "workspace.changed", times=2)
        server.has(session_id, "session.paused", times=2)
        assert moot("sessions", "take", session_id, "--merge", *connect).code == 0
        assert git(team.parent, "ls-files") == "calc.py\nsub.py"


def test_a_run_ends_when_git_has_done_what_was_answered(moot: Moot, team: Path) -> None:
    """`moot run --answer apply` writes the work into one's files before it ends, and says that it did."""
    plan = plan_team([{"id": "mul", "title": "add mul"}], {"mul": [{"text": "mul", "files": {"calc.py": MUL}}]})
    team.write_text(yaml.safe_dump(plan))
    done = moot("run", str(team), "--say", "go", "--answer", "apply")
    assert (done.code, (team.parent / "calc.py").read_text()) == (0, MUL), done.err
    assert "■ The work is in your files" in done.lines


@pytest.mark.parametrize("is_run", [False, True])
def test_taking_that_was_interrupted_is_finished_by_taking_again(
    moot: Moot, team: Path, monkeypatch: pytest.MonkeyPatch, *, is_run: bool
) -> None:
    """The request is in the log and git has not done it: the same command does it, once, or a run of the session."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(handing_over, "merge", die)
        assert moot("sessions", "take", session_id, "--merge").code != 0
    assert git(team.parent, "log", "--format=%s") == "start"
    if is_run:
        assert moot("run", str(team), "--session", session_id).code == 0
    else:
        assert moot("sessions", "take", session_id, "--merge") == (0, "", "")
    assert len(git(team.parent, "log", "--format=%s").split("\n")) == 2
    assert moot("sessions", "take", session_id, "--discard").err.startswith("moot: There is no change")


def test_a_fork_gets_copied_files_and_is_set_up_before_work(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tree has the recorded files at once; the commands of the team run when somebody first works in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    top = make_repository(tmp_path / "repo", {".gitignore": "deps\n.env\n", "a": "1\n"})
    (top / ".env").write_text("KEY=1\n")
    setup = ["python3", "-c", "open('deps', 'a').write('x')"]
    replies = [{"text": str(number), "files": {"a": f"{number}\n"}} for number in range(2, 4)]
    settings = {"copy": [".env"], "setup": [setup]}
    (top / "team.yaml").write_text(yaml.safe_dump(chat_team(*replies, workspace=settings)))
    moot("trust", "--yes", str(top / "team.yaml"))
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(top / "team.yaml"))
    fork = moot("sessions", "fork", session_id, "--with-work").out.strip()
    tree = tmp_path / "cache" / "moot" / "trees" / fork / "main"
    assert [(tree / name).read_text() for name in ("a", ".env")] == ["2\n", "KEY=1\n"]
    assert not (tree / "deps").exists()
    said = moot("run", str(top / "team.yaml"), "--session", fork, "--say", "[NEXT: bob] two")
    assert said.code == 0, said.err
    assert [(tree / name).read_text() for name in ("a", "deps")] == ["3\n", "x"]


def test_a_fork_on_a_server_has_the_files_of_its_event(moot: Moot, team: Path) -> None:
    """It goes on from there in a tree of its own, and what it makes is taken from there."""
    with serving(moot.data, str(team), cwd=team.parent) as server:
        session_id = server.create()
        for number, text in enumerate(("one", "two"), 1):
            server.say(session_id, f"[NEXT: bob] {text}")
            server.has(session_id, "session.paused", times=number)
        at = server.names(session_id).index("session.paused") + 1
        answer = server.request("POST", f"/api/sessions/{session_id}/fork", json={"at": at})
        assert answer.status_code == 201, answer.text
        fork = answer.json()["session_id"]
        assert moot("sessions", "diff", fork).out.endswith(DIFF)
        tree = Path(moot("sessions", "open", fork).out.strip())
        assert sorted(path.name for path in tree.iterdir()) == [".git", "calc.py"]
        assert moot("sessions", "take", fork, "--apply").code == 0
        assert (team.parent / "calc.py").read_text() == MUL
        assert not (team.parent / "sub.py").exists()


def test_a_fork_without_its_files_says_so(moot: Moot, team: Path) -> None:
    """It is told when it is made, and once more when git is to do something with files that are not there."""
    tasks = [{"id": "mul", "title": "add mul"}]
    scripts = {"mul": [{"text": "mul", "files": {"calc.py": MUL}}]}
    checked = plan_team(tasks, scripts, workspace={"check": [["true"]]})
    team.write_text(yaml.safe_dump(checked))
    moot("trust", "--yes", str(team))
    session_id, frames = moot.talk("go", team=str(team))
    at = next(frame["seq"] for frame in frames if frame["event"] == "solver.completed")
    made = moot("sessions", "fork", session_id, "--at", str(at))
    assert made.err.endswith("without the files that members had by then; --with-work takes them along\n")
    said = moot("run", str(team), "--session", made.out.strip())
    assert "this session was forked without its files" in said.out
    assert moot("sessions", "fork", session_id, "--at", "1").err.count("without the files") == 0


def test_no_fork_is_made_of_files_that_are_gone(moot: Moot, team: Path, tmp_path: Path) -> None:
    """`--with-work` refuses before anything is copied. After its end a session has no files that a fork would need."""
    session_id, frames = moot.talk("[NEXT: bob] one", team=str(team))
    at = str(frames[-1]["seq"])
    moot("sessions", "take", session_id, "--keep")
    moot("run", str(team), "--session", session_id, "--say", "[DONE]")
    assert not (tmp_path / "cache" / "moot" / "trees" / session_id).exists()
    refused = moot("sessions", "fork", session_id, "--at", at, "--with-work")
    assert refused.code != 0
    assert refused.err.startswith("moot: The trees of this session are gone")
    assert moot("sessions", "list", "--json").out.count('"session_id"') == 1
    assert moot("sessions", "fork", session_id, "--with-work").code == 0


CHAT = [{"text": str(number), "files": {"n.txt": f"{number}\n", f"f{number}": "x\n"}} for number in range(3)]
TASKS: list[dict[str, Any]] = [{"id": "mul", "title": "add mul"}, {"id": "sub", "title": "add sub"}]
TASKS += [{"id": "doc", "title": "document", "depends_on": ["mul"]}]
RESOLVED = {"text": "both", "files": {"calc.py": BOTH}}
PLAN: dict[str, list[Any]] = {
    "mul": [{"text": "mul", "files": {"calc.py": MUL}}, RESOLVED],
    "sub": [{"text": "sub", "files": {"calc.py": SUB}}, RESOLVED],
    "doc": [{"text": "doc", "files": {"README": "a calculator\n"}}],
}


@pytest.mark.parametrize(
    ("team", "texts", "changes"),
    [
        (chat_team(*CHAT), [f"[NEXT: bob] {number}" for number in range(3)], {"main": 3}),
        (plan_team(TASKS, PLAN), ["extend the calculator"], {"mul": 1, "sub": 1, "doc": 1, "main": 3}),
    ],
    ids=["chat", "plan with a conflict"],
)
def test_a_fork_has_the_files_of_every_event(
    moot: Moot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    team: dict[str, Any],
    texts: list[str],
    changes: dict[str, int],
) -> None:
    """`fork --at SEQ --with-work` gives each tree the files that were recorded last at or before that event."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    top = make_repository(tmp_path / "repo")
    (top / "team.yaml").write_text(yaml.safe_dump(team))
    session_id, frames = moot.talk(*texts, team=str(top / "team.yaml"))
    root = tmp_path / "cache" / "moot" / "trees"
    clone = root / session_id / ".repository"
    recorded: dict[str, str] = {}
    conflicts: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for frame in frames:
        metadata = frame["metadata"]
        match frame["event"]:
            case WorkspaceOpened.event:
                recorded[metadata["tree"]] = metadata["base"]
            case WorkspaceChanged.event | WorkspaceMerged.event:
                tree = metadata.get("tree", "main")
                recorded[tree] = metadata["commit"]
                counts[tree] += 1
            case WorkspaceConflicted.event:
                recorded[metadata["task_id"]] = conflicts[metadata["task_id"]] = metadata["commit"]
        copy = moot("sessions", "fork", session_id, "--at", str(frame["seq"]), "--with-work").out.strip()
        assert {path.name for path in (root / copy).glob("[!.]*")} == set(recorded)
        for tree, commit in recorded.items():
            wanted = git(clone, "rev-parse", f"{commit}^{{tree}}")
            assert git(root / copy / ".repository", "rev-parse", f"moot/{copy}/{tree}^{{tree}}") == wanted
            assert git(root / copy / tree, "status", "--porcelain") == ""
            assert git(root / copy / tree, "write-tree") == wanted
            conflict = f"refs/moot/{copy}/conflicts/{tree}"
            named = git(root / copy / ".repository", "for-each-ref", "--format=%(objectname)", conflict)
            assert named == conflicts.get(tree, "")  # what may not be merged while a file still holds both sides
    assert all(counts[tree] >= times for tree, times in changes.items()), counts
