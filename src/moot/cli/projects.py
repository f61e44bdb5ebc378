"""Which team file each session belongs to, kept in the data folder beside the sessions.

A session stores the name of its team, and teams of different folders may have the same name. For each session that
`moot chat` or `moot run` starts, a small file remembers the team file. It is no part of the log: without it a session
can still be opened if the name of its team fits.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from moot.config.loading import list_built_in_teams
from moot.config.message_format import show_name
from moot.config.private_files import write_private
from moot.core.errors import ConfigError, NotFound
from moot.core.machines.session import Status
from moot.runtime.ports import Listing


class Project:
    """A team file, or a built-in team, and the sessions that it started."""

    def __init__(self, file: str, team: str, data: Path) -> None:
        self._file = file if file in list_built_in_teams() else os.path.abspath(file)
        self._team = team
        self._folder = data / "projects"

    def remember(self, session_id: str) -> None:
        write_private(self._folder / session_id, os.fsencode(self._file))

    def check(self, session: Listing) -> None:
        """Raise ConfigError if the session belongs to another team file. One that was moved is found by its team."""
        file = self._read(session.session_id)
        if file and file != self._file and (file in list_built_in_teams() or Path(file).exists()):
            command = shlex.join(["moot", "chat", file, "--session", session.session_id])
            raise ConfigError(f"session {session.session_id} belongs to {show_name(file)}; `{command}` goes on with it")
        if session.summary.team != self._team:
            name = session.summary.team
            raise ConfigError(
                f"session {session.session_id} belongs to the team {name!r} and {show_name(self._file)} is the team"
                f" {self._team!r}; name the team file of {name!r}"
            )

    def find_last(self, sessions: Iterable[Listing]) -> str:
        """Return the last active session of this team file that is not over. Raises NotFound."""
        for session in sessions:
            if session.summary.status is not Status.COMPLETED and self._read(session.session_id) == self._file:
                return session.session_id
        raise NotFound(f"no session of {show_name(self._file)} to go on with; leave --continue out to start one")

    def _read(self, session_id: str) -> str | None:
        try:
            return os.fsdecode((self._folder / session_id).read_bytes())
        except FileNotFoundError:
            return None
