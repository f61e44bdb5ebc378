"""`moot stop`: ends the server that holds the data, wherever it was started."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace

from moot.cli import exits
from moot.cli.attaching import find_holder
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.progress import Progress
from moot.core.errors import ConfigError, Locked, MootError, NotFound
from moot.runtime.process_table import find_start_time

STOP_S, LOOK_S = 12.0, 0.05


def add_arguments(parser: ArgumentParser) -> None:
    add_store_arguments(parser)


async def run(options: Namespace) -> int:
    """Stop the server in order: every session goes on where it was at the next start."""
    data, store = data_folder(options), find_sessions(options)
    holder = await find_holder(data, store)
    if holder is None:
        raise NotFound(f"no server holds {data}")
    pid = holder.about.pid
    started = find_start_time(pid)
    try:
        await holder.stop()
    except ConfigError as error:  # it is somebody's window
        raise Locked(str(error)) from None
    with Progress("stopping the server"):
        deadline = asyncio.get_running_loop().time() + STOP_S
        while find_start_time(pid) == started:
            if asyncio.get_running_loop().time() > deadline:
                raise MootError(f"process {pid} has not ended within {STOP_S:.0f} s")
            await asyncio.sleep(LOOK_S)
    print(f"stopped process {pid}; sessions go on where they were at the next start", file=sys.stderr)
    return exits.OK
