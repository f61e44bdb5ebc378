"""`moot run --connect` and `moot sessions … --connect`: the same words, on a server."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from tests.client.deadline import run
from tests.client.real_server import TOKEN, RealServer, real_server


class Said(NamedTuple):
    code: int
    out: str
    err: str


Moot = Callable[..., Awaitable[Said]]


def moot_in(folder: Path, **environment: str) -> Moot:
    """The command line, with a data folder of its own."""

    async def moot(*arguments: str) -> Said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "moot.cli.main", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "MOOT_DATA": str(folder / "here"), **environment},
        )
        out, err = await process.communicate()
        return Said(process.returncode or 0, out.decode(), err.decode())

    return moot


def with_server(folder: Path, test: Callable[[RealServer, Moot], Awaitable[None]]) -> None:
    async def body() -> None:
        async with real_server(folder) as (server, _):
            await test(server, moot_in(folder, MOOT_TOKEN=TOKEN))

    run(body())


def test_a_run_on_a_server_prints_what_a_run_here_prints(tmp_path: Path) -> None:
    """--connect changes where, not what."""
    said = ["--say", "adam: hello [NEXT: bob]", "alice: /queue clear", "--answer", "keep"]

    async def test(server: RealServer, moot: Moot) -> None:
        team = str(tmp_path / "team.yaml")
        here = await moot("run", team, *said)
        there = await moot("run", team, *said, "--connect", server.url)
        assert (here.code, there.code) == (0, 0), there.err
        assert there.out.replace("[FROM: adam] ", "") == here.out
        assert "Adam" in here.out
        assert not (await moot("sessions", "list")).out.count("\n") > 1  # nothing of it is kept here

    with_server(tmp_path, test)


def test_a_session_on_a_server_goes_on(tmp_path: Path) -> None:
    """--session with a prefix; exit 0 accepted, 1 refused with the server's sentence, 4 not found."""

    async def test(server: RealServer, moot: Moot) -> None:
        url = f"{server.url}/#token={TOKEN}"
        first = await moot("run", "relay", "--json", "--say", "adam: hi", "--connect", url)
        session_id = json.loads(first.out.splitlines()[0])["session_id"]
        assert f"session {session_id}" in first.err
        more = await moot(
            *(
                "run",
                "relay",
                "--session",
                session_id[:8],
                "--json",
                "--connect",
                url,
                "--say",
                "alice: on",
                "/nonsense",
            )
        )
        assert more.code == 1
        assert "Unknown command /nonsense" in more.err
        seqs = [json.loads(line)["seq"] for line in (first.out + more.out).splitlines()]
        assert seqs == list(range(1, len(seqs) + 1))
        assert (await moot("run", "relay", "--session", "nobody", "--connect", url)).code == 4

    with_server(tmp_path, test)


def test_sessions_of_a_server_are_read_like_those_here(tmp_path: Path) -> None:
    """List, show, export, replay, verify of a server's sessions; the chain is checked on this side."""

    async def test(server: RealServer, moot: Moot) -> None:
        connect = ("--connect", server.url)
        made = await moot("run", "relay", "--json", "--say", "adam: hi [NEXT: bob]", *connect)
        session_id = json.loads(made.out.splitlines()[0])["session_id"]
        listed = json.loads((await moot("sessions", "list", "--json", *connect)).out)
        assert (listed["session_id"], listed["status"]) == (session_id, "paused")
        exported = await moot("sessions", "export", session_id[:6], *connect)
        assert exported.out == made.out
        verified = await moot("sessions", "verify", *connect)
        assert (verified.code, verified.out) == (0, f"{session_id}: ok, {listed['seq']} events\n")
        shown = json.loads((await moot("sessions", "show", session_id, "--json", *connect)).out)
        assert (shown["seq"], shown["hash"]) == (listed["seq"], listed["hash"])
        assert (await moot("sessions", "replay", session_id, "--at", "3", *connect)).out.startswith("#1")
        assert (await moot("sessions", "show", "nobody", *connect)).code == 4
        assert (await moot("sessions", "rename", session_id[:6], "Harbour", *connect)).code == 0
        assert json.loads((await moot("sessions", "list", "--json", *connect)).out)["title"] == "Harbour"
        refused = await moot("sessions", "rename", session_id, " ", *connect)
        assert (refused.code, "cannot be empty" in refused.err) == (1, True)

    with_server(tmp_path, test)


def test_what_goes_wrong_with_a_server_is_one_sentence(tmp_path: Path) -> None:
    """Talk on stderr, an exit code, no traceback, and no token in either."""

    async def test(server: RealServer, moot: Moot) -> None:
        stranger = moot_in(tmp_path, MOOT_TOKEN="wrong-token-42")
        for asked, words in [
            (("run", "relay", "--say", "hi", "--connect", server.url), "does not take this token"),
            (("sessions", "list", "--connect", server.url), "does not take this token"),
            (("run", "relay", "--say", "hi", "--connect", "ftp://nowhere"), "must look like"),
        ]:
            said = await stranger(*asked)
            assert said.code in (1, 2), said
            assert words in said.err
            assert said.err.count("\n") == 1
            assert "wrong-token-42" not in said.err
        unknown = await moot("run", "nobody", "--say", "hi", "--connect", server.url)
        assert (unknown.code, unknown.err.count("\n")) == (3, 1)
        assert "no team nobody here" in unknown.err
        late = await moot(
            *("run", "relay", "--say", "adam: hi [NEXT: bob]", "--timeout", "0.3", "--connect", server.url)
        )
        assert late.code == 7

    with_server(tmp_path, test)
