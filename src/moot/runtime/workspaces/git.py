"""Runs git, so that neither the repository nor the person's settings make it do more than it is told.

No hook runs, nothing is collected in the background, nobody is asked for a password, and variables that name another
repository are dropped.
"""

import os
import re
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from moot.core.errors import WorkspaceError

OLDEST = (2, 38)  # `git merge-tree --write-tree`
TIMEOUT_S = 900.0
NO_DAEMONS = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false")
OPTIONS = (
    *NO_DAEMONS,
    *("-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "core.longpaths=true"),
    *("-c", "core.safecrlf=false", "-c", "core.splitIndex=false"),
    *("-c", "submodule.recurse=false", "-c", "advice.detachedHead=false", "-c", "protocol.ext.allow=never"),
    *("-c", "merge.renames=true", "-c", "diff.renames=true", "-c", "diff.noprefix=false", "-c", "diff.external="),
)
# Without the program, pointers of large files stay pointers instead of stopping every checkout.
NO_LFS = (
    *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.clean=", "-c", "filter.lfs.process="),
    *("-c", "filter.lfs.required=false"),
)
NO_SUBSTITUTES = {
    "GIT_NO_REPLACE_OBJECTS": "1"
}  # a member's `git replace` would show people other text than it recorded
Arguments = tuple[str, ...]
Watch = Callable[[Arguments], object]  # called before each command


class Done(Struct, frozen=True):
    """How a command ended."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode(errors="surrogateescape").strip()

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.split("\n") if line]

    @property
    def parts(self) -> list[str]:
        """The output split at null bytes, with which `-z` separates entries."""
        return [part for part in self.output.decode(errors="surrogateescape").split("\0") if part]


class GitFailed(WorkspaceError):
    """A command of git failed."""

    def __init__(self, arguments: Sequence[str], done: Done) -> None:
        reason = re.sub(r"^(fatal|error): ", "", done.errors.strip() or done.text[-500:]) or f"exit code {done.code}"
        super().__init__(f"git {arguments[0]}: {reason}")
        self.done = done


def ignore(_: Arguments) -> None:
    """The default of `watch`: do nothing."""


class Git(Struct, frozen=True, kw_only=True):
    """Git for one repository.

    Args:
        folder: where the commands run.
        environment: variables besides those of this process, such as GIT_DIR.
        descriptors: open files that the commands inherit: a lock stays held until the last of them has ended.
        options: further options before the command.
        watch: called with each command before it runs; tests end the process there.
    """

    folder: Path
    environment: Mapping[str, str] = {}
    descriptors: tuple[int, ...] = ()
    options: Arguments = ()
    watch: Watch = ignore
    has_hooks: bool = False  # in the person's own checkout, when they merge

    def run(
        self,
        *arguments: str,
        data: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        allowed: Sequence[int] = (0,),
    ) -> Done:
        """Run a command and return its output. Raises GitFailed if it ends with a code that is not `allowed`."""
        self.watch(arguments)
        argv = ["git", *(NO_DAEMONS if self.has_hooks else OPTIONS), *self.options, *arguments]
        try:
            ended = subprocess.run(  # noqa: S603 - no shell
                argv,
                cwd=self.folder,
                env={**self._variables(), **(environment or {})},
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                pass_fds=self.descriptors,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise WorkspaceError(f"git {arguments[0]} took longer than {TIMEOUT_S:.0f} s and was stopped") from None
        except OSError as error:
            raise WorkspaceError(f"git cannot be run ({error}); install git {'.'.join(map(str, OLDEST))}") from None
        done = Done(ended.returncode, ended.stdout, ended.stderr.decode(errors="replace"))
        if done.code not in allowed:
            raise GitFailed(arguments, done)
        return done

    def read_start(self, *arguments: str, most_bytes: int) -> tuple[bytes, bool]:
        """The beginning of a command's output, and whether that is all of it. Raises GitFailed."""
        self.watch(arguments)
        argv = ["git", *OPTIONS, *self.options, *arguments]
        with subprocess.Popen(  # noqa: S603 - no shell
            argv,
            cwd=self.folder,
            env=self._variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=self.descriptors,
        ) as running:
            timer = threading.Timer(TIMEOUT_S, running.kill)
            timer.start()
            try:
                output = running.stdout.read(most_bytes + 1) if running.stdout else b""
                is_whole = len(output) <= most_bytes
                if not is_whole:
                    running.kill()
                code = running.wait()
            finally:
                timer.cancel()
        if is_whole and code:
            raise GitFailed(arguments, Done(code, b"", ""))
        return output[:most_bytes], is_whole

    def _variables(self) -> dict[str, str]:
        plain = _base_environment() if self.has_hooks else {**_base_environment(), **NO_SUBSTITUTES}
        return {**plain, **self.environment}

    def find(self, name: str) -> str | None:
        """Return the commit that a name means, None if it means none."""
        done = self.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", allowed=(0, 1, 128)
        )
        return done.text or None if done.code == 0 else None

    def tree(self, commit: str) -> str:
        return self.run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}").text

    def update_refs(self, *changes: str) -> None:
        """Change several refs at once, or none: `update REF NEW [OLD]`, `create REF NEW`, `delete REF`."""
        if changes:
            self.run("update-ref", "--stdin", data="".join(f"{change}\n" for change in changes).encode())

    def is_ancestor(self, commit: str, of: str) -> bool:
        return self.run("merge-base", "--is-ancestor", commit, of, allowed=(0, 1)).code == 0


def _base_environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**own, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "0"}


def check_version() -> None:
    """Raise WorkspaceError if there is no git, or one that is too old."""
    words = Git(folder=Path.cwd()).run("version").text.split()
    found = next((word for word in words if word[:1].isdigit()), "0")
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise WorkspaceError(f"a workspace of type worktree needs git {wanted} or newer; this is git {found}")
