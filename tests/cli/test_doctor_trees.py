"""`moot doctor` lists trees, finishes what a killed process left, and removes what nobody needs; never work."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest
import yaml

from tests.cli.command import Moot
from tests.runtime.workspaces.repositories import MUL, chat_team, git, make_repository


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a team in a repository, which is the current folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    top = make_repository(tmp_path / "repo")
    monkeypatch.chdir(top)
    (top / "team.yaml").write_text(yaml.safe_dump(chat_team({"text": "1", "files": {"calc.py": MUL}})))
    return top / "team.yaml"


def trees_of(moot: Moot, *arguments: str) -> list[dict[str, str]]:
    said = moot("doctor", "--json", *(arguments or ("--repair",)))
    return [check for check in said.objects if check["name"] in ("trees", "refs")]


def test_trees_of_open_sessions_and_work_that_nobody_took_are_kept(moot: Moot, team: Path, tmp_path: Path) -> None:
    """`--prune` touches neither; it says how to take the work."""
    assert [check["says"] for check in trees_of(moot)] == ["none"]
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    (check,) = trees_of(moot, "--prune")
    assert (check["status"], check["says"].endswith(" MB: its session is open")) == ("ok", True)
    assert check["says"].startswith(f"{session_id} (main), ")
    moot("run", str(team), "--session", session_id, "--say", "[DONE]")
    (check,) = trees_of(moot, "--prune")
    assert "its session is over and nobody has taken the work" in check["says"]
    assert f"moot sessions take {session_id} --keep" in check["fix"]
    assert (tmp_path / "cache" / "moot" / "trees" / session_id / "main" / "calc.py").read_text() == MUL


def test_trees_that_nobody_needs_are_removed(moot: Moot, team: Path, tmp_path: Path) -> None:
    """A session that was taken and ended, whose removal was interrupted; and a ref whose trees are gone."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    root = tmp_path / "cache" / "moot" / "trees"
    shutil.copytree(root / session_id, tmp_path / "copy", symlinks=True)
    moot("sessions", "take", session_id, "--keep")
    moot("run", str(team), "--session", session_id, "--say", "[DONE]")
    assert not (root / session_id).exists()
    shutil.copytree(tmp_path / "copy", root / session_id, symlinks=True)
    git(team.parent, "update-ref", f"refs/moot/{session_id}/base", "HEAD")
    git(team.parent, "update-ref", "refs/moot/s_gone/base", "HEAD")
    told = trees_of(moot)
    assert [check["fix"] for check in told] == ["`moot doctor --prune` removes them"] * 2
    assert [check["status"] for check in trees_of(moot, "--prune")] == ["ok", "ok"]
    assert not (root / session_id).exists()
    assert git(team.parent, "for-each-ref", "refs/moot") == ""
    assert [check["says"] for check in trees_of(moot)] == ["none"]


def test_what_somebody_left_in_a_tree_of_a_session_that_is_over_is_told(moot: Moot, team: Path, tmp_path: Path) -> None:
    """The work was taken and the session ended; the trees stay for what no commit has, and a person decides."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    moot("sessions", "take", session_id, "--keep")
    folder = tmp_path / "cache" / "moot" / "trees" / session_id
    (folder / "main" / "note").write_text("mine\n")
    moot("run", str(team), "--session", session_id, "--say", "[DONE]")
    (check,) = trees_of(moot, "--prune")
    assert check["says"].endswith("files that no commit has in main")
    assert check["fix"].endswith(f"rm -r {folder}")
    assert (folder / "main" / "note").read_text() == "mine\n"


def test_what_a_killed_process_left_is_finished(moot: Moot, team: Path, tmp_path: Path) -> None:
    """Half-made trees and clones and lock files go; work stays. The session goes on as if nothing had been."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    folder = tmp_path / "cache" / "moot" / "trees" / session_id
    (folder / "half").mkdir()
    (folder / "half" / "calc.py").write_text("")
    (folder / ".repository" / "packed-refs.lock").write_text("")
    (folder.parent / "s_never").mkdir()
    (folder.parent / "s_never" / ".repository.new").mkdir()
    first, second = trees_of(moot, "--prune")
    assert "half made: half, .repository/packed-refs.lock" in first["says"]
    assert "removed" in second["says"]
    (first,) = trees_of(moot, "--repair")
    assert "repaired half" in first["says"]
    (check,) = trees_of(moot)
    assert "its session is open" in check["says"]
    assert not (folder / "half").exists()
    assert moot("sessions", "take", session_id, "--apply").code == 0
    assert (team.parent / "calc.py").read_text() == MUL


def test_trees_that_are_in_use_and_work_of_other_stores_are_left_alone(moot: Moot, team: Path, tmp_path: Path) -> None:
    """A lock that somebody holds is respected; a session that is not in this store may be in another."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    folder = tmp_path / "cache" / "moot" / "trees" / session_id
    (check,) = trees_of(moot, "--prune", "--data", str(tmp_path / "other"))
    assert "work of a session that is not in this store" in check["says"]
    descriptor = os.open(folder / ".lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    (check,) = trees_of(moot, "--prune")
    os.close(descriptor)
    assert check["says"].endswith("in use now")
    assert (folder / "main" / "calc.py").read_text() == MUL


def test_validate_warns_of_copies_that_git_has_and_of_a_folder_without_repository(moot: Moot, team: Path) -> None:
    """What members change in a copied file is not recorded, so that it must not be one of the repository's."""
    document = yaml.safe_load(team.read_text())
    document["workspace"]["copy"] = [".env", "calc.py"]
    team.write_text(yaml.safe_dump(document))
    said = moot("validate", str(team))
    assert "'calc.py' is tracked by git" in said.out + said.err
    assert ".env" not in said.out + said.err
    elsewhere = team.parent.parent / "team.yaml"
    elsewhere.write_text(team.read_text())
    said = moot("validate", str(elsewhere))
    assert "needs a git repository" in said.out + said.err


def test_trees_that_git_cannot_read_are_told(moot: Moot, team: Path, tmp_path: Path) -> None:
    """The doctor says so, goes on with its other checks and removes nothing."""
    session_id, _ = moot.talk("[NEXT: bob] one", team=str(team))
    folder = tmp_path / "cache" / "moot" / "trees" / session_id
    (folder / ".moot" / "config").write_text("[broken")
    (check,) = trees_of(moot, "--prune")
    assert (check["status"], "git cannot read them" in check["says"]) == ("note", True)
    assert str(folder) in check["fix"]
    assert (folder / "main" / "calc.py").read_text() == MUL
