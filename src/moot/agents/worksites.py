"""The repository of a team whose members work in trees, and the commands that its team file names for them."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from moot.agents.environment import hide_secrets, pick_environment
from moot.agents.process import Bounds, Program, start
from moot.agents.run_environment import RunEnvironment
from moot.config.team_file import TeamFile
from moot.core import limits
from moot.core.errors import AgentError, ConfigError, WorkspaceError
from moot.core.text import clean
from moot.runtime.workspaces.git_workspaces import Worksite
from moot.runtime.workspaces.repository import Repository, find_repository
from moot.runtime.workspaces.trees import Settings

OUTPUT_BYTES = 64 * 1_048_576
NOT_STARTED, TIMED_OUT = 127, 124  # as a shell and timeout(1) say it


def find_worksite(team: TeamFile, environment: RunEnvironment) -> tuple[Worksite, RunEnvironment] | None:
    """Return the repository of a team with trees, None for others; and the environment that keeps programs from
    changing the person's refs and hooks.

    Raises ConfigError, with a sentence that says what to do, if no tree can be made: before anything runs.
    """
    spec = team.workspace
    if spec is None or spec.type != "worktree":
        return None
    folder = (environment.folder or Path()).resolve()
    try:
        top = find_repository(folder, spec.base)
    except WorkspaceError as error:
        raise ConfigError(str(error)) from None
    git_folder = Repository(top, "any").common_folder()
    environment = replace(environment, sandbox=replace(environment.sandbox, read_only=(git_folder,)))
    worksite = Worksite(
        top=top,
        place=folder.relative_to(top.resolve()),
        settings=Settings(base=spec.base, copy=spec.copy, merge=spec.merge, max_disk_mb=spec.max_disk_mb),
        setup=spec.setup,
        checks=spec.check,
        check_timeout_s=spec.check_timeout_s,
        run_command=TeamCommands(environment),
        names={member.id: member.display_name or member.name or member.id for member in team.members},
    )
    return worksite, environment


class TeamCommands:
    """Runs the commands of `setup` and `check` like the programs of members: same variables, limits and clean-up."""

    def __init__(self, environment: RunEnvironment) -> None:
        self._environment = environment

    async def __call__(self, argv: Sequence[str], folder: Path, clone: Path, timeout_s: float) -> tuple[int, str]:
        variables = pick_environment(())
        sandbox = replace(self._environment.sandbox, folder=folder, shown=(clone,))
        program = Program(argv=tuple(argv), environment=variables, folder=folder, sandbox=sandbox)
        bounds = Bounds(output_bytes=OUTPUT_BYTES, idle_s=timeout_s, total_s=timeout_s)
        written = bytearray()
        try:
            async with start(program, bounds, self._environment.book) as child:
                async for chunk in child.chunks():
                    written += chunk
                    del written[: -4 * limits.CHECK_TAIL_CHARS]
                ended = await child.ended()
        except AgentError as error:
            code = TIMED_OUT if error.error_type == "timeout" else NOT_STARTED
            return code, self._read_tail(written, str(error), variables)
        return ended.code, self._read_tail(written, ended.stderr, variables)

    def _read_tail(self, written: bytearray, errors: str, variables: dict[str, str]) -> str:
        text = "\n".join(part for part in (clean(written.decode(errors="replace")).strip(), errors) if part)
        return hide_secrets(text, variables)[-limits.CHECK_TAIL_CHARS :]
