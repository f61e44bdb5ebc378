"""What people can tell a session to do, for `session.submit`. The page `docs/events.md` describes each command."""

from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, Replan, RestartTask, SolveTasks
from moot.core.session.commands import (
    Answer,
    CancelTurn,
    ChangeQueue,
    End,
    HumanCommand,
    Pause,
    Post,
    Rename,
    Resume,
    Retry,
    SetLanguage,
    Stop,
)
from moot.core.session.workspace_commands import Comment, Take, Undo
from moot.runtime.ports import CommandKey, Receipt

__all__ = [
    "Answer",
    "CancelPlan",
    "CancelTask",
    "CancelTurn",
    "ChangeQueue",
    "CommandKey",
    "Comment",
    "End",
    "HumanCommand",
    "Pause",
    "Post",
    "Receipt",
    "Rename",
    "Replan",
    "RestartTask",
    "Resume",
    "Retry",
    "SetLanguage",
    "SolveTasks",
    "Stop",
    "Take",
    "Undo",
]
