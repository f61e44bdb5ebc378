"""The team file that a command was started with, and the sessions that belong to it.

A session stores the name of its team, and teams of different folders may have the same name. So the store remembers
which file started it. That is no part of the log: without it a session can still be opened if its team's name fits.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from moot.cli.trusting import folder_of, load_trusted
from moot.cli.usage import UsageError
from moot.config.loading import list_built_in_teams
from moot.config.message_format import show_name
from moot.config.team_file import TeamFile
from moot.core.errors import ConfigError, NotFound
from moot.core.machines.session import Status
from moot.core.texts import render
from moot.runtime.ports import Listing, Project


class OwnTeam(Struct, frozen=True, kw_only=True):
    """A trusted team with its file, which is its identity, and the folder in which its programs run."""

    team: TeamFile
    project: Project
    folder: Path

    @property
    def about(self) -> str:
        """What people must know of the team; empty but for a built-in one that plays a script."""
        is_demo = self.project.file in list_built_in_teams() and self.team.is_scripted
        return f"{self.team.name}: {render('ui.scripted', self.team.language)}" if is_demo else ""

    def check(self, session: Listing) -> None:
        """Raise ConfigError if the session belongs to another team file. One that was moved is found by its team."""
        file = find_file(session)
        if file and file != self.project.file:
            raise belongs_elsewhere(session.session_id, file)
        if session.summary.team != self.team.name:
            name = session.summary.team
            raise ConfigError(
                f"session {session.session_id} belongs to the team {name!r} and {show_name(self.project.file)} is the"
                f" team {self.team.name!r}; name the team file of {name!r}"
            )

    def find_last(self, sessions: Iterable[Listing]) -> str:
        """Return the last active session of this team file that is not over. Raises NotFound.

        One without a word is passed over: another window has just opened it, and removes it if it stays unused.
        """
        for session in sessions:
            is_open = session.head.seq > 1 and session.summary.status is not Status.COMPLETED
            if is_open and session.project == self.project:
                return session.session_id
        file = show_name(self.project.file)
        raise NotFound(f"no session of {file} to go on with; leave --continue out to start one")


def load_own(file: str) -> OwnTeam:
    """Load a team that the command line names. Asks for trust if that is needed; raises what `load_trusted` raises."""
    return OwnTeam(team=load_trusted(file), project=find_project(file), folder=folder_of(file))


def find_file(session: Listing) -> str | None:
    """Return the team file of a session, or its built-in team; None if that is not known or gone."""
    file = session.project.file if session.project else ""
    return file if file in list_built_in_teams() or (file and Path(file).exists()) else None


def belongs_elsewhere(session_id: str, file: str) -> ConfigError:
    command = shlex.join(["moot", "chat", file, "--session", session_id])
    return ConfigError(f"session {session_id} belongs to {show_name(file)}; `{command}` goes on with it")


FOUND_FILE = "moot.yaml"


def find_here() -> str:
    """Return the team file of the current folder. Raises UsageError if there is none."""
    if Path(FOUND_FILE).exists():
        return FOUND_FILE
    others = [str(file) for file in sorted(Path().glob("*.y*ml"))][:5]
    hint = f"here are {', '.join(others)}" if others else "`moot init` writes one"
    raise UsageError(f"name a team file: there is no {FOUND_FILE} in this folder; {hint}")


def find_project(file: str) -> Project:
    if file in list_built_in_teams():
        return Project(file)
    return Project(os.path.abspath(file), str(folder_of(file)))
