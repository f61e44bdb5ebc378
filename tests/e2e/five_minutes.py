"""`make five-minutes`: the first five minutes, played in a clean virtual environment with an empty environment.

Every step is timed and must end with 0, and no screen may speak of an API key. Only the installation sees a package
index; whatever runs after it has no network but loopback, and is told a proxy where nobody listens.
"""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"
BARE_S = 0.05  # what a bare interpreter takes to start and end on a quiet machine


class Newcomer:
    """A folder, a home, nothing else; `did` are the steps with their seconds and the bound of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.did: list[tuple[str, float, float]] = []
        self.environment = {
            "PATH": f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "http_proxy": NOWHERE,
            "https_proxy": NOWHERE,
        }

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def list_slow(self) -> list[str]:
        slow = [name for name, took, most_s in self.did if took > most_s]
        if slow:
            print(f"too slow: {', '.join(slow)}", flush=True)
        return slow

    def time(self, name: str, most_s: float, step: Callable[[], object]) -> None:
        """A busy machine is given more: as many times as a bare interpreter takes longer than it should."""
        before_s, took, after_s = _time(start_bare), _time(step), _time(start_bare)
        most_s *= max(BARE_S, before_s, after_s) / BARE_S
        self.did.append((name, took, most_s))
        print(f"{took:7.2f} s  (at most {most_s:.0f})  {name}", flush=True)

    def run(self, *command: str, given: str = "") -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, input=given, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"$ {' '.join(command)}\n{said}"
        assert "api key" not in said.lower(), said
        return said

    def install(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "venv")], check=True)
        pip = [str(self.bin / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        source = self.folder / "source"  # a copy: building leaves files behind that a later build would pick up
        shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source / name)
        constraints = self.folder / "constraints.txt"  # the versions of the lock; a local folder has no hash to check
        pinned = re.findall(r"^[^\s#]+==[^\\\n]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
        constraints.write_text("\n".join(pinned), encoding="utf-8")
        subprocess.run([*pip, "--constraint", str(constraints), str(source)], check=True)

    def watch_first_screen(self) -> None:
        """`moot demo` in a terminal, until its first caption is there; then Ctrl+Q."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(  # noqa: S606 - that is what a terminal does
                self.bin / "moot",
                ["moot", "demo", "--flow", "plan"],
                {**self.environment, "COLUMNS": "120", "LINES": "32"},
            )
        seen = b""
        deadline = time.monotonic() + 30
        while b"understood" not in seen:
            assert time.monotonic() < deadline, seen[-2_000:]
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65_536)
        os.write(terminal, b"\x11")
        while select.select([terminal], [], [], 5)[0]:
            try:
                if not os.read(terminal, 65_536):
                    break
            except OSError:  # the terminal is gone: it has ended
                break
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def serve(self) -> None:
        """`moot serve` until its page is there; then Ctrl-C."""
        command = [str(self.bin / "moot"), "serve", "--port", "0"]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout
            found = re.match(r"(http://127\.0\.0\.1:\d+)", server.stdout.readline())
            assert found
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(found[1], timeout=10) as page:
                assert b"<html" in page.read()
            server.send_signal(signal.SIGINT)
            assert server.wait(15) == 0


def main() -> int:
    """Install with the network, then play in a process that has none."""
    with tempfile.TemporaryDirectory(prefix="moot-five-") as folder:
        newcomer = Newcomer(Path(folder))
        newcomer.home.mkdir()
        newcomer.time("install", 60, newcomer.install)
        slow = newcomer.list_slow()
        played = subprocess.run([*find_offline(), sys.executable, "-m", __spec__.name, folder], cwd=ROOT, check=False)
        return 1 if slow else played.returncode


def start_bare() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


def _time(step: Callable[[], object]) -> float:
    began = time.monotonic()
    step()
    return time.monotonic() - began


def find_offline() -> list[str]:
    """A network of its own in which there is only this machine, where the system lets us have one."""
    alone = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True, check=False).returncode == 0:
        return alone
    print("          no network namespaces here: without a network only as far as proxies go", flush=True)
    return []


def play(folder: Path) -> int:
    newcomer = Newcomer(folder)
    run, moot = newcomer.run, str(newcomer.bin / "moot")
    newcomer.time("moot: eight lines", 2, lambda: run(moot))
    newcomer.time("moot demo: the first screen", 5, newcomer.watch_first_screen)
    newcomer.time("moot demo --plain", 30, lambda: run(moot, "demo", "--plain"))
    newcomer.time("moot demo --flow plan --plain", 60, lambda: run(moot, "demo", "--flow", "plan", "--plain"))
    newcomer.time("moot init", 10, lambda: run(moot, "init", "--yes"))
    newcomer.time("moot validate", 2, lambda: run(moot, "validate", "moot.yaml"))
    first_line = (newcomer.folder / "moot.yaml").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    newcomer.time("moot chat, line by line", 5, lambda: run(moot, "chat", given=f"{first_line}\n"))
    newcomer.time("moot run", 5, lambda: run(moot, "run", "moot.yaml", "--say", first_line))
    newcomer.time("moot serve: the page", 10, newcomer.serve)
    newcomer.time("moot sessions list", 2, lambda: run(moot, "sessions", "list"))
    print(f"{sum(took for _, took, _ in newcomer.did):7.2f} s  in all, after the installation")
    return 1 if newcomer.list_slow() else 0


if __name__ == "__main__":
    sys.exit(play(Path(sys.argv[1])) if len(sys.argv) > 1 else main())
