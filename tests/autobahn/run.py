"""`make autobahn`: the Autobahn test suite for WebSocket against Moot's own protocol class.

The suite (0.8.2) runs on Python 2.7 only. It is installed once, beside the other tools of CI, if a Python 2.7 can be
found; without one nothing is tested, and the reason is printed. Cases that fail on purpose are listed with the reason.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import uvicorn

from moot.gateway.metrics import Metrics
from moot.gateway.serving import bind
from moot.gateway.settings import GatewaySettings
from moot.gateway.uvicorn_port import make_config

HOME = Path.home() / ".cache" / "moot-ci" / "autobahn"
PACKAGES = (
    *("twisted==20.3.0", "autobahn==0.10.9", "txaio==2.1.0", "zope.interface<6", "klein<20", "Werkzeug<1"),
    *("jinja2<3", "markupsafe<2", "pyopenssl<21", "cryptography<3.4", "service-identity<21", "unittest2"),
)
MESSAGE_BYTES = 32 << 20  # the largest case sends 16 MiB; a server of Moot takes 256 KiB
FRAGMENTS = "more than 1,000 fragments of one message are refused, so that a message cannot be kept open for ever"
ON_PURPOSE = {
    **{f"9.{group}.{number}": FRAGMENTS for group in (3, 4) for number in range(1, 5)},
    "7.1.5": "the `websockets` library answers an unfinished message before a close with 1002 instead of 1000",
}
PASSED = ("OK", "NON-STRICT", "INFORMATIONAL")


def find_installed() -> Path | None:
    """The program of the suite, if it is installed."""
    suite = Path(os.environ.get("MOOT_WSTEST") or HOME / "bin" / "wstest")
    return suite if suite.exists() else None


def find_python() -> str | None:
    """A Python 2.7 that runs: a name on the path may be a stand-in for one that was not chosen."""
    named = shutil.which("python2.7")
    kept = sorted((Path.home() / ".pyenv" / "versions").glob("2.7.*/bin/python"), reverse=True)
    found = [*([named] if named else []), *map(str, kept)]
    return next(
        (each for each in found if not subprocess.run([each, "-V"], capture_output=True, check=False).returncode), None
    )


def install() -> Path | None:
    """Install the suite. Return its program, None if there is no Python 2.7 or no package index."""
    python = find_python()
    if python is None:
        return None
    pip, base = [python, "-m", "pip", "install", "--quiet", "--user"], str(HOME / "base")
    environment = {**os.environ, "PYTHONUSERBASE": base}
    steps = (
        [*pip, "virtualenv==20.15.1"],
        [python, "-m", "virtualenv", "--quiet", str(HOME)],
        [str(HOME / "bin" / "pip"), "install", "--quiet", *PACKAGES],
        [str(HOME / "bin" / "pip"), "install", "--quiet", "--no-deps", "autobahntestsuite==0.8.2"],
    )
    for step in steps:
        if subprocess.run(step, env=environment, check=False).returncode:
            return None
    return find_installed()


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Send back what comes, as the suite expects."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        kind = "text" if message.get("text") is not None else "bytes"
        await send({"type": "websocket.send", kind: message[kind]})


async def fuzz(suite: Path, folder: Path, cases: list[str]) -> dict[str, dict[str, Any]]:
    """Serve, let the suite send its cases, and return its index: case → outcome."""
    settings = GatewaySettings(port=0, frame_bytes=MESSAGE_BYTES)
    bound = bind(settings.host, settings.port)
    port = bound.getsockname()[1]
    server = uvicorn.Server(make_config(echo, settings, Metrics()))
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    specification = {
        "outdir": str(folder / "reports"),
        "servers": [{"agent": "moot", "url": f"ws://127.0.0.1:{port}"}],
        "cases": cases,
        "exclude-cases": ["12.*", "13.*"],  # compression, which Moot does not offer
        "exclude-agent-cases": {},
    }
    (folder / "cases.json").write_text(json.dumps(specification), encoding="utf-8")
    command = [str(suite), "-m", "fuzzingclient", "-s", str(folder / "cases.json")]
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=subprocess.DEVNULL)
    await process.wait()
    server.should_exit = True
    await serving
    index: dict[str, dict[str, Any]] = json.loads((folder / "reports" / "index.json").read_text())["moot"]
    return index


def main() -> int:
    suite = find_installed() or install()
    if suite is None:
        print("skipped: the Autobahn test suite needs Python 2.7 and its packages; MOOT_WSTEST names an installed one")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        index = asyncio.run(fuzz(suite, Path(folder), sys.argv[1:] or ["*"]))
    failed = sorted(case for case, result in index.items() if result["behavior"] not in PASSED)
    unexpected = [case for case in failed if case not in ON_PURPOSE]
    print(f"{len(index)} cases:", dict(Counter(result["behavior"] for result in index.values())))
    for case in failed:
        print(f"{case}: {index[case]['behavior']}; {ON_PURPOSE.get(case, 'NOT EXPECTED')}")
    return int(bool(unexpected))


if __name__ == "__main__":
    sys.exit(main())
