"""The person's own repository: found, examined before anything runs, and touched only where they ask for it."""

from pathlib import Path

from moot.core.errors import WorkspaceError
from moot.runtime.workspaces.git import Git, Watch, check_version, ignore

WORKING_TREE = "working-tree"  # as `base`: what lies in the person's checkout, if they agree


def find_repository(folder: Path, base: str = "HEAD") -> Path:
    """Return the top folder of the repository that contains `folder`.

    Raises WorkspaceError, with a sentence that says what to do, if no tree can be made of it.
    """
    check_version()
    git = Git(folder=folder)
    asked = git.run("rev-parse", "--is-bare-repository", "--is-inside-work-tree", allowed=(0, 128))
    if asked.code:
        reason = asked.errors.strip().splitlines()[0].removeprefix("fatal: ") if asked.errors.strip() else ""
        if "dubious ownership" in reason:
            raise WorkspaceError(f"{folder} is in a repository of another user: {reason}")
        raise WorkspaceError(
            f"workspace: worktree needs a git repository, and {folder} is in none; run git init and commit, "
            "or write type: shared"
        )
    is_bare, is_inside = asked.lines[0] == "true", asked.lines[-1] == "true"
    if is_bare or not is_inside:
        raise WorkspaceError(
            f"workspace: worktree needs a checkout, and {folder} is in a bare repository; "
            "put the team file into a clone with files"
        )
    top = Path(git.run("rev-parse", "--show-toplevel").text)
    git = Git(folder=top)
    if git.find("HEAD") is None:
        raise WorkspaceError(
            f"the repository {top} has no commit yet, so there is nothing to start from; "
            "commit something first (git commit --allow-empty -m start)"
        )
    if base not in ("HEAD", WORKING_TREE) and git.find(base) is None:
        raise WorkspaceError(f"workspace.base: {base!r} names no commit of {top}; use HEAD, a branch or a commit")
    _check_names(git, top)
    return top


def _check_names(git: Git, top: Path) -> None:
    """Raise WorkspaceError if the file system cannot hold all files: two names differ in case only."""
    if git.run("config", "--type=bool", "--get", "core.ignorecase", allowed=(0, 1)).text != "true":
        return
    seen: dict[str, str] = {}
    for name in git.run("ls-tree", "-r", "-z", "--name-only", "HEAD").parts:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise WorkspaceError(
                f"{top}: {other} and {name} differ in case only, and this file system cannot tell them"
            )


class Repository:
    """The person's repository, as the trees of one session need it.

    Args:
        descriptors: open files that commands of git inherit, such as the lock of the trees.
    """

    def __init__(self, top: Path, session_id: str, *, watch: Watch = ignore, descriptors: tuple[int, ...] = ()) -> None:
        self.top = top
        self.git = Git(folder=top, watch=watch, descriptors=descriptors)
        self.prefix = f"refs/moot/{session_id}"

    def common_folder(self) -> Path:
        """The git directory that all of its worktrees share."""
        return (self.top / self.git.run("rev-parse", "--git-common-dir").text).resolve()

    def list_uncommitted(self) -> list[str]:
        """The files with changes that are in no commit, new ones too."""
        entries = self.git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames").parts
        return [entry[3:] for entry in entries]

    def pin(self, base: str, *, index: Path | None = None, at: str = "@0 +0000") -> str:
        """Return the commit that the session starts from, and keep it from being collected. Twice gives the same.

        With the path of an `index` to make, it has what lies in the checkout, uncommitted.
        """
        name = f"{self.prefix}/base"
        pinned = self.git.find(name)
        if pinned:
            return pinned
        start = self.git.find("HEAD" if base == WORKING_TREE else base)
        if start is None:
            raise WorkspaceError(f"workspace.base: {base!r} names no commit of {self.top} any more")
        if index:
            start = self._snapshot(start, index, at)
        self.git.update_refs(f"update {name} {start}")
        return start

    def _snapshot(self, parent: str, index: Path, at: str) -> str:
        """Commit the files of the checkout, with a separate index."""
        environment = {"GIT_INDEX_FILE": str(index)}
        self.git.run("read-tree", parent, environment=environment)
        self.git.run("add", "-A", "--", ":/", environment=environment)
        tree = self.git.run("write-tree", environment=environment).text
        index.unlink(missing_ok=True)
        identity = identify("Moot", "moot", at)
        message = "What lay in the checkout, uncommitted\n"
        return self.git.run("commit-tree", tree, "-p", parent, data=message.encode(), environment=identity).text

    def forget(self) -> None:
        """Remove what Moot keeps in the repository for this session; what was taken stays."""
        refs = self.git.run("for-each-ref", "--format=%(refname)", self.prefix).lines
        self.git.update_refs(*(f"delete {ref}" for ref in refs))


def identify(name: str, address: str, at: str) -> dict[str, str]:
    """The author and committer of a commit, with a date that does not depend on when git runs."""
    plain = "".join(char for char in name if char not in "<>\n\r\0").strip() or "Moot"
    account = "".join(char for char in address if char.isalnum() or char in "-_.") or "member"
    return {
        "GIT_AUTHOR_NAME": plain,
        "GIT_AUTHOR_EMAIL": f"{account}@moot.invalid",
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_NAME": "Moot",
        "GIT_COMMITTER_EMAIL": "moot@moot.invalid",
        "GIT_COMMITTER_DATE": at,
    }
