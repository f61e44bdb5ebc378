"""A plan whose tasks have trees, played without git: what it would report is said by the test."""

from typing import Self

from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.session.settings import WorkspaceSettings
from moot.core.session.team import Team, member
from moot.core.session.workspace import Check, FileChange
from moot.core.session.workspace_commands import (
    FailJob,
    ReportChange,
    ReportChecks,
    ReportConflict,
    ReportMerge,
    ReportTree,
)
from moot.testing import PlanScenario

CALC = FileChange(path="calc.py", status="modified", added=4, removed=1)


def coders(*, checks: int = 0, has_reviewer: bool = False, max_rework: int = 2, max_parallel: int = 4) -> Team:
    """A plan team with two executors that may edit."""
    reviewer = (member("rae", "ai", role="reviewer", position=4),) if has_reviewer else ()
    return Team(
        name="coders",
        flow="plan",
        members=(
            member("ann", "human"),
            member("pat", "ai", role="planner", position=1),
            member("will", "ai", role="executor", position=2, edits=True),
            member("cleo", "ai", role="executor", position=3, edits=True),
            *reviewer,
        ),
        understanding="rules",
        plan=PlanSettings(confirm="never", max_rework=max_rework, max_parallel=max_parallel),
        workspace=WorkspaceSettings(type="worktree", checks=checks),
    )


class WorkspaceScenario(PlanScenario):
    """Adds what git reports."""

    def plan_of(self, *tasks: object) -> Self:
        """A goal, planned; the plan runs at once."""
        self.says("improve the calculator").understands("different_task")
        turn = self.turn("plan").turn_id
        self.when(ReportTree(turn_id=turn, tree="main", branch="moot/s/main", base="b0"))
        return self.plans(*tasks)

    def edits(self, task_id: str, commit: str, text: str = "done") -> Self:
        """An executor changes files in its tree and finishes."""
        self.starts(task_id)
        turn_id, tree = self.dispatch_id(task_id), self.run(task_id).tree
        self.when(ReportTree(turn_id=turn_id, tree=tree, branch=f"moot/s/{tree}", base="b0", task_id=task_id))
        self.when(ReportChange(turn_id=turn_id, tree=tree, commit=commit, parent="b0", files=(CALC,), task_id=task_id))
        return self.completes(task_id, text)

    def checks(self, task_id: str, *exits: int, total: int | None = None) -> Self:
        """The check commands end like this."""
        checks = tuple(Check(command=f"check {n}", exit=code, tail="out") for n, code in enumerate(exits, 1))
        turn_id = self.run(task_id).turn_id
        return self.when(ReportChecks(task_id=task_id, checks=checks, total=total or len(exits), turn_id=turn_id))

    def checks_merged(self, task_id: str, *exits: int) -> Self:
        """The check commands on the merged files end like this."""
        checks = tuple(Check(command=f"check {n}", exit=code, tail="out") for n, code in enumerate(exits, 1))
        number = self.run(task_id).queued
        return self.when(
            ReportChecks(task_id=task_id, checks=checks, total=len(exits), number=number, stage="merge", files="t9")
        )

    def merges(self, task_id: str, commit: str) -> Self:
        number = self.run(task_id).queued
        return self.when(ReportMerge(task_id=task_id, number=number, commit=commit, parent="b0", files=(CALC,)))

    def conflicts(self, task_id: str, *files: str) -> Self:
        number = self.run(task_id).queued
        return self.when(ReportConflict(task_id=task_id, number=number, files=files, commit="c9"))

    def cannot_merge(self, task_id: str, detail: str) -> Self:
        number = self.run(task_id).queued
        return self.when(FailJob(what="merge", task_id=task_id, number=number, detail=detail))


def trees_given(team: Team) -> WorkspaceScenario:
    return WorkspaceScenario(team)
