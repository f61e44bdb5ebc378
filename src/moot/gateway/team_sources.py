"""Team files over HTTP, for the owner at this very machine: read, checked, and saved.

What is saved is inert: this process keeps the team as it was loaded, and the trust in the file's folder is withdrawn.
Nothing of the new text runs before somebody has confirmed it at the terminal (`moot trust`).
"""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.config.own_folders import find_data_folder
from moot.config.problem import Problem
from moot.config.short_forms import expand
from moot.config.team_schema import team_schema
from moot.config.trust import TrustStore
from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml
from moot.core import limits
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.gateway.bodies import convert, read_text
from moot.gateway.guard import is_private, principal_of
from moot.gateway.operations import LANGUAGE, Operation
from moot.gateway.replies import Json, error_language
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import read_object

PATH = "/api/teams/{name}/source"
BODY_BYTES = 2 * limits.TEAM_FILE_BYTES  # JSON has more bytes than the text in it


class TeamSource(Struct, frozen=True, kw_only=True):
    """The text of a team file, and its hash, which a change must name."""

    name: str
    file: str
    text: str
    sha256: str


class NewSource(Struct, frozen=True, kw_only=True):
    """A new text of a team file. `sha256` is that of the text that was changed."""

    text: str
    sha256: str


class UncheckedSource(Struct, frozen=True, kw_only=True):
    text: str


class SourceProblem(Struct, frozen=True, kw_only=True):
    """A problem: its line, the key that it is about, and a sentence."""

    line: int | None
    path: str
    text: str


class ProblemsDocument(Struct, frozen=True, kw_only=True):
    problems: list[SourceProblem]


class TeamSources:
    def __init__(self, app: App) -> None:
        self._app = app
        self._saving = asyncio.Lock()
        self._schema: bytes | None = None  # always the same, and a hundred times as dear to make as to send

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path=PATH,
                summary="The text of a team's file; for the owner at this machine",
                handler=self.get_source,
                gives=TeamSource,
            ),
            Operation(
                method="PUT",
                path=PATH,
                summary="Save another text; it takes effect after `moot trust` and a restart",
                handler=self.save_source,
                takes=NewSource,
                gives=TeamSource,
                parameters=(LANGUAGE,),
            ),
            Operation(
                method="POST",
                path=f"{PATH}/check",
                summary="The problems of a text, before it is saved",
                handler=self.check_source,
                takes=UncheckedSource,
                gives=ProblemsDocument,
                parameters=(LANGUAGE,),
            ),
            Operation(
                method="GET",
                path="/api/team-schema",
                summary="The JSON Schema of team files, for editors",
                handler=self.get_schema,
                gives=dict[str, Any],
            ),
        ]

    async def get_schema(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        if self._schema is None:
            self._schema = msgspec.json.encode(team_schema())
        return Json(self._schema)

    async def get_source(self, request: Request) -> Response:
        path = self._find(request)
        return Json(await asyncio.to_thread(_read, request.path_params["name"], path))

    async def check_source(self, request: Request) -> Response:
        """Return every problem, with its line, in the reader's language."""
        path = self._find(request)
        wanted = convert(read_object(await read_text(request, BODY_BYTES)), UncheckedSource)
        problems = await asyncio.to_thread(list_problems, wanted.text, path.parent, _language(request))
        return Json(ProblemsDocument(problems=problems))

    async def save_source(self, request: Request) -> Response:
        """Write a valid text, unless the file has changed since it was read."""
        path, wanted = self._find(request), convert(read_object(await read_text(request, BODY_BYTES)), NewSource)
        problems = await asyncio.to_thread(list_problems, wanted.text, path.parent, _language(request))
        if problems:
            told = "\n".join(f"{each.line or 1}: {each.path}: {each.text}" for each in problems)
            raise ProtocolError("team_source_invalid", detail=told)
        async with self._saving:
            if (await asyncio.to_thread(_read, "", path)).sha256 != wanted.sha256:
                raise ProtocolError("team_source_changed")
            await asyncio.to_thread(_save, path, wanted.text)
        return Json(await asyncio.to_thread(_read, request.path_params["name"], path))

    def _find(self, request: Request) -> Path:
        """Return the file of a team. Raises ProtocolError if it is not for this reader, or the team has none."""
        if not may_edit(request.scope):
            raise ProtocolError("forbidden")
        name = request.path_params["name"]
        names = tuple(team.name for team in self._app.teams)
        if name not in names:
            raise ProtocolError("unknown_team", detail=name[:80], available=names)
        path = find_file(self._app, name)
        if path is None:
            raise ProtocolError("team_without_file", detail=name)
        return path


def find_file(app: App, team: str) -> Path | None:
    """Return the file of a team; built-in teams and those made in code have none."""
    project = app.find_project(team)
    return Path(project.file) if project and project.folder and os.path.isabs(project.file) else None


def may_edit(scope: Mapping[str, Any]) -> bool:
    """Whether this is the owner, at this machine."""
    return principal_of(scope).may_create and is_at_this_machine(scope)


def is_at_this_machine(scope: Mapping[str, Any]) -> bool:
    """Whether both ends of a connection are on loopback: behind a proxy, or over a network, they are not.

    A proxy need not say that it is one. It is known by the name by which the browser calls the server.
    """
    if is_private(scope):
        return True
    ends = [(scope.get(end) or ("",))[0] for end in ("client", "server")]
    for name, value in scope["headers"]:
        if name in (b"forwarded", b"x-forwarded-for", b"x-real-ip"):
            return False
        if name in (b"host", b"origin"):
            address = value.decode("latin-1")
            ends.append(urlsplit(address if "//" in address else f"//{address}").hostname or "")
    try:
        return all(end == "localhost" or ip_address(end).is_loopback for end in ends)
    except ValueError:
        return False


def list_problems(text: str, folder: Path, language: Language) -> list[SourceProblem]:
    """Return every problem of a text, in this language."""
    source = replace(read_yaml(text.encode(errors="replace")), folder=folder)
    problems: list[Problem] = find_problems(replace(source, data=expand(source.data)), language)
    return [SourceProblem(line=each.line, path=each.where, text=each.sentence) for each in problems]


def _read(name: str, path: Path) -> TeamSource:
    try:
        with path.open("rb") as file:
            data = file.read(limits.TEAM_FILE_BYTES + 1)
        text = data.decode()
    except (OSError, UnicodeDecodeError):
        raise ProtocolError("team_source_unreadable", detail=str(path)) from None
    return TeamSource(name=name, file=str(path), text=text, sha256=hashlib.sha256(data).hexdigest())


def _save(path: Path, text: str) -> None:
    """Withdraw the trust first, then replace the file in one step, with its mode.

    A link is followed: the team is then also that of the folder in which the file lies.
    """
    target = path.resolve()
    for folder in (path.parent, target.parent):
        TrustStore(find_data_folder()).remove(folder)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            Path(file.name).rename(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _language(request: Request) -> Language:
    return error_language(request, DEFAULT_LANGUAGE)
