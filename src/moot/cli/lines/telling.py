"""What it takes to tell a fact: the session before and after it. Content was made safe before it was stored."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from moot.core.events import TurnFailed
from moot.core.notices import render, tell_failure
from moot.core.plan.events import Json, TaskFailed
from moot.core.plan.state import TaskRun
from moot.core.state import State

RESULT_CHARS = 400  # of a task's result in a transcript; exports have all of it


class Telling(Struct, frozen=True):
    """`is_whole`: results are told in full."""

    before: State
    after: State
    is_whole: bool = False

    def say(self, code: str, **params: Any) -> str:
        return render(code, self.after.language, **params)

    def failure(self, failed: TurnFailed | TaskFailed | TaskRun) -> str:
        return tell_failure(failed.error_type, failed.message, self.after.language)

    def name(self, member_id: str | None) -> str:
        if not member_id:
            return "Moot"
        return self.after.team.member(member_id).display_name

    def title(self, task_id: str | None) -> str:
        """Of a task as it is now, or was before this."""
        for state in (self.after, self.before):
            run = state.work.tasks.get(task_id or "") if state.work else None
            if run:
                return run.task.title
        return task_id or ""

    def tasks(self, documents: Iterable[Json], kept: tuple[str, ...] = ()) -> list[str]:
        """Numbered; dependencies by their numbers."""
        numbers = {task["id"]: str(number) for number, task in enumerate(documents, 1)}
        return [f"  {numbers[task['id']]}. {self._task(task, numbers, kept)}" for task in documents]

    def _task(self, task: Json, numbers: dict[str, str], kept: tuple[str, ...]) -> str:
        member = self.after.team.find(task["member"]) if task.get("member") else None
        who = f" → {member.display_name}" if member else ""
        needed = ", ".join(numbers.get(each, each) for each in task.get("depends_on", ()))
        after = self.say("task_after", detail=needed) if needed else ""
        done = self.say("task_kept") if task["id"] in kept else ""
        return f"{task['title']}{who}{after}{done}"

    def result(self, text: str) -> list[str]:
        """Below what it is the result of."""
        shown = text.strip()
        if not self.is_whole and len(shown) > RESULT_CHARS:
            shown = f"{shown[:RESULT_CHARS].rstrip()}…"
        return [f"    {line}" for line in shown.split("\n") if line.strip()]


def indent(prefix: str, said: str) -> list[str]:
    """What follows the first line stands further in than it."""
    first, *rest = said.split("\n")
    margin = "    " if prefix.startswith(" ") else "  "
    return [f"{prefix}{first}", *(f"{margin}{line}" if line else "" for line in rest)]
