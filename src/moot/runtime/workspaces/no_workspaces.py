"""The Workspaces port of a process that makes no trees."""

import asyncio

from moot.core.errors import WorkspaceError
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import WorkerCommand
from moot.core.session.workspace_commands import FailJob, WorkspaceJob
from moot.runtime.ports import Ask, Entered, Handle, Report

MISSING = "this process has no repository for the team; start with its team file"


class NoWorkspaces:
    """Refuses every tree: the session asks for trees, and nobody here knows the repository."""

    def knows(self, team: str) -> bool:  # noqa: ARG002 - the port's
        return False

    def keep_place(self) -> str:
        return ""

    async def enter(self, turn: TurnInput, team: str, ask: Ask) -> Entered:  # noqa: ARG002
        raise WorkspaceError(MISSING)

    async def leave(self, turn: TurnInput, team: str) -> tuple[WorkerCommand, ...]:  # noqa: ARG002
        return ()

    def run(self, job: WorkspaceJob, session_id: str, team: str, report: Report) -> Handle:  # noqa: ARG002
        task_id, number = getattr(job, "task_id", ""), getattr(job, "number", 0)
        failed = FailJob(what=job.what, detail=MISSING, task_id=task_id, number=number)

        async def fail() -> None:
            await report(failed)

        return asyncio.ensure_future(fail())
