"""`workspace:` in the team file: where members work, and what their work must pass."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated

from msgspec import Meta, Struct

from moot.config.message_format import shorten
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.quantities import Command, Count, Duration, Text
from moot.core.session.settings import MergeStyle, WorkspaceSettings, WorkspaceType

_FOR_TREES = ("base", "copy", "setup", "check", "check_timeout_s", "merge", "max_disk_mb")


class WorkspaceSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where members work. The repository is the one that contains the team file."""

    type: Annotated[
        WorkspaceType,
        Meta(
            description="worktree: trees of the repository, one for each task or session; shared: the team file's "
            "folder, one for all; none: an empty folder"
        ),
    ] = "worktree"
    base: Annotated[
        Text,
        Meta(
            description="what work starts from: HEAD, a branch, a commit; working-tree: uncommitted changes too, if "
            "you agree when asked"
        ),
    ] = "HEAD"
    copy: Annotated[
        tuple[Text, ...], Meta(description="untracked files that a tree needs, from the top of the repository")
    ] = ()
    setup: Annotated[tuple[Command, ...], Meta(description="commands that run once in each new tree")] = ()
    check: Annotated[
        tuple[Command, ...], Meta(description="commands that must succeed before the work of a task counts as done")
    ] = ()
    check_timeout_s: Annotated[Duration, Meta(description="of one such command")] = 900.0
    merge: Annotated[
        MergeStyle, Meta(description="squash: one commit for each task; merge: with the commits of its turns")
    ] = "squash"
    max_disk_mb: Annotated[Count, Meta(description="that the trees of one session may take")] = 5_000

    def settings(self) -> WorkspaceSettings:
        """The part that the log remembers."""
        return WorkspaceSettings(type=self.type, merge=self.merge, checks=len(self.check))


def check_workspace(data: Mapping[str, object]) -> Iterator[Problem]:
    """Report what the types of the fields cannot say."""
    entry = data.get("workspace")
    if not isinstance(entry, dict):
        return
    if entry.get("type", "worktree") == "worktree":
        yield from _check_places(data.get("members"))
    else:
        for name in _FOR_TREES:
            if name in entry:
                yield Problem(path=("workspace", name), text=Phrase("team.workspace.trees_only", value=name))
    copied = entry.get("copy")
    for position, name in enumerate(copied if isinstance(copied, list) else []):
        if isinstance(name, str) and _leads_out(name):
            yield Problem(
                path=("workspace", "copy", position),
                text=Phrase("team.workspace.leads_out", value=shorten(name)),
                hint=Phrase("team.workspace.leads_out.hint"),
            )


def _check_places(members: object) -> Iterator[Problem]:
    """Trees lie where a server runs: a worker on another machine has them not."""
    for position, member in enumerate(members if isinstance(members, list) else []):
        if isinstance(member, dict) and member.get("kind") == "ai" and member.get("runs_on"):
            yield Problem(
                path=("members", position, "runs_on"),
                text=Phrase("team.workspace.runs_on"),
                hint=Phrase("team.workspace.runs_on.hint"),
            )


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or path.parts[:1] == (".git",) or not path.parts
