"""`moot worker`: plays members on this machine for servers elsewhere."""

import asyncio
import os
import secrets
import socket
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from moot.app import open_app
from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.cli.parser import read_count
from moot.cli.projects import find_project
from moot.cli.serve import check_names
from moot.cli.trusting import folder_of, load_trusted
from moot.cli.usage import UsageError
from moot.cli.user_settings import read_kept_programs
from moot.cli.wording import say
from moot.client.address import Address, read_address
from moot.config.private_files import TOKEN_VARIABLE, write_private
from moot.core import limits
from moot.gateway.signals import stopping
from moot.runtime.file_lock import FileLock
from moot.worker.worker_link import RemoteFiles, WorkerLink, WorkerSettings

ID_FILE = "worker.id"
STOP_S = 9.5


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help=say("help.worker.files"))
    parser.add_argument(
        "--connect",
        metavar="URL",
        action="append",
        required=True,
        help=say("help.worker.connect"),
    )
    parser.add_argument(
        "--pool",
        metavar="NAME",
        action="append",
        required=True,
        help=say("help.worker.pool"),
    )
    parser.add_argument("--at-once", type=read_count, default=2, metavar="N", help=say("help.worker.at_once"))
    parser.add_argument("--name", default=socket.gethostname(), help=say("help.worker.name"))
    add_data_argument(parser)


async def run(options: Namespace) -> int:
    addresses = [read_address(url, os.environ.get(TOKEN_VARIABLE)) for url in options.connect]
    if any(address.token is None for address in addresses):
        raise UsageError("no token; `moot token create --role worker --pool NAME` on a server makes one")
    data = data_folder(options) / "worker"
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(data / "worker")
    try:
        return await _work(options, addresses, data)
    finally:
        lock.release()


async def _work(options: Namespace, addresses: list[Address], data: Path) -> int:
    teams = check_names([(file, load_trusted(file)) for file in options.files])
    places: dict[str, Any] = {
        "folders": {team.name: folder_of(file) for file, team in teams},
        "projects": {team.name: find_project(file) for file, team in teams},
    }
    files: Any = RemoteFiles()
    loaded, kept = [team for _, team in teams], read_kept_programs()
    with stopping(STOP_S) as stop:
        async with open_app(*loaded, data=data, store=files, **places, **kept, plays=options.pool) as app:
            settings = WorkerSettings(
                id=_keep_id(data),
                name=options.name[: limits.NAME_CHARS],
                pools=tuple(options.pool),
                teams=tuple(team.name for team in loaded),
                at_once=options.at_once,
            )
            files.link = link = WorkerLink(addresses, settings, app.sessions.dispatch)
            telling = asyncio.create_task(_tell(link, options))
            try:
                await link.run(stop)
            finally:
                telling.cancel()
    print("stopped; other workers of the pool go on with what was running here", file=sys.stderr)
    return exits.OK


async def _tell(link: WorkerLink, options: Namespace) -> None:
    await link.is_welcome.wait()
    print(f"worker {options.name} is ready for jobs of {', '.join(options.pool)}", flush=True)


def _keep_id(data: Path) -> str:
    """What servers know this worker by, also after it is started anew: then its old jobs are given up at once."""
    path = data / ID_FILE
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        name = f"w_{secrets.token_hex(8)}"
        write_private(path, name.encode())
        return name
