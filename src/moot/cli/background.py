"""`moot serve --background`: starts the server as a process of its own, and waits until it serves."""

import asyncio
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from moot.cli import exits
from moot.cli.attaching import find_holder
from moot.cli.data import data_folder, find_sessions
from moot.cli.progress import Progress
from moot.config.private_files import make_private_folder
from moot.core.errors import Locked, MootError

LOG_FILE = "server.log"
START_S, LOOK_S = 60.0, 0.1


async def start_background(options: Namespace) -> int:
    """Print the URL as `moot serve` does. Raises Locked if a process holds the data already."""
    data, store = data_folder(options), find_sessions(options)
    holder = await find_holder(data, store)
    if holder:
        more = f" at {holder.about.url}" if holder.about.url else ""
        raise Locked(f"`moot {holder.about.command}`, process {holder.about.pid}, holds {data} already{more}")
    make_private_folder(data)
    log = data / LOG_FILE
    server = start(log, [argument for argument in sys.argv[1:] if argument != "--background"])
    with Progress("starting the server"):
        url = await wait_for_url(server, log)
    print(url, flush=True)
    print(f"process {server.pid} serves in the background, its log is {log}; `moot stop` ends it", file=sys.stderr)
    return exits.OK


def start(log: Path, arguments: list[str]) -> "subprocess.Popen[bytes]":
    """Start `moot` with these arguments, detached from the terminal; what it prints goes to the log, emptied first."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(  # noqa: S603 - this program, with the arguments that it was given
            [sys.executable, "-m", "moot", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)


async def wait_for_url(server: "subprocess.Popen[bytes]", log: Path) -> str:
    """Return the line with the URL that the server prints. Raises MootError with its last words if it ends instead."""
    deadline = asyncio.get_running_loop().time() + START_S
    while True:
        lines = (await asyncio.to_thread(log.read_text, errors="replace")).splitlines()
        url = next((line for line in lines if line.startswith("http://")), None)
        if url:
            return url
        if server.poll() is not None:
            said = lines[-1].removeprefix("moot: ") if lines else "it said nothing"
            kind = Locked if server.returncode == exits.BUSY else MootError
            raise kind(f"the server did not start: {said}")
        if asyncio.get_running_loop().time() > deadline:
            server.terminate()
            raise MootError(f"the server did not start within {START_S:.0f} s; its log is {log}")
        await asyncio.sleep(LOOK_S)
