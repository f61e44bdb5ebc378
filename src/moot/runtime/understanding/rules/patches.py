"""Orders about tasks of the plan that need no planner: "cancel the second task", "do t3 first"."""

import re
from collections.abc import Sequence

from moot.core.intake.intent import KnownTask, PlanPatch
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.tokens import tokens_of

_REMOVE = re.compile(
    r"\b(?:cancel|remove|skip|drop|delete|omit|leave out|get rid of|don'?t (?:do|need)|no need for|scrap)\b"
    r"|取消|删除?|去掉|跳过|不(?:要|做|用做|需要)|移除|砍掉|略过"
)
_REFUSED = re.compile(
    r"\b(?:don'?t|do not|never|no need to) (?:cancel|remove|skip|drop|delete)"
    r"|(?:别|不要|先别|不用|不能)(?:取消|删|去掉|跳过|移除)"
)
_FIRST = re.compile(r"\bfirst\b(?! task| step| one)|\b(?:before|prioriti[sz]e)\b|先(?:做|执行|跑|处理|完成)|优先")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = {word: n for words in (_ORDINALS, "一二三四五六七八九十") for n, word in enumerate(words, start=1)}
_TASK_NUMBER = re.compile(
    rf"\b(?P<a>{'|'.join(_ORDINALS)}|last|\d{{1,2}}(?:st|nd|rd|th)) (?:task|step|item|one|job)\b"
    r"|\b(?:task|step|item|job) ?(?:no\.? ?|number |#)?(?P<b>\d{1,3})\b"
    r"|第(?P<c>[一二三四五六七八九十]|\d{1,2})(?:(?:个|项|条)(?:任务|步骤|子任务)|步)|(?:任务|步骤) ?(?P<d>\d{1,3})"
    r"|(?P<e>最后)(?:一)?(?:个|项)(?:任务|步骤)|(?P<f>最后)一步"
)
_DONE = frozenset({"done", "completed", "cancelled"})
TITLE_SHARE = 0.75  # of a title's tokens that must occur in the message


def mentions_task(text: str) -> bool:
    """Whether a task is named by its number, even if no such task exists."""
    return bool(_TASK_NUMBER.search(text))


def find_tasks(text: str, tasks: Sequence[KnownTask]) -> tuple[KnownTask, ...]:
    """Find the tasks that a text names: by id, else by number, else by title. By number, in the order of the text."""
    if not tasks:
        return ()
    lowered = text.lower()
    by_id = [task for task in tasks if re.search(rf"(?<![\w-]){re.escape(task.id.lower())}(?![\w-])", lowered)]
    by_id = [task for task in by_id if not task.id.isdigit()]  # a bare "3" may count anything
    if by_id:
        return tuple(by_id)
    by_number = [task for match in _TASK_NUMBER.finditer(lowered) if (task := _find_by_number(match, tasks))]
    if by_number:
        return tuple(dict.fromkeys(by_number))
    tokens = tokens_of(lowered)
    return tuple(
        task for task in tasks if (title := tokens_of(task.title)) and len(title & tokens) / len(title) >= TITLE_SHARE
    )


def find_patches(text: str, tasks: Sequence[KnownTask], context: Context) -> tuple[PlanPatch, ...]:
    """Find removals and reorderings of unfinished tasks. Nothing is found in a text that repeats the goal."""
    lowered = text.lower()
    if not tasks or _REFUSED.search(lowered) or tokens_of(lowered) >= context.goal > frozenset():
        return ()
    named_tasks = [task for task in find_tasks(lowered, tasks) if task.status not in _DONE]
    if _REMOVE.search(lowered):
        return tuple(PlanPatch(op="remove", task_id=task.id) for task in named_tasks)
    if _FIRST.search(lowered) and len(named_tasks) == 1:
        return (PlanPatch(op="reorder", task_id=named_tasks[0].id, changes={"after": None}),)
    return ()


def _find_by_number(match: re.Match[str], tasks: Sequence[KnownTask]) -> KnownTask | None:
    word = next(group for group in match.groups() if group)
    if word in ("last", "最后"):
        return tasks[-1] if tasks else None
    number = _NUMBERS.get(word) or int(re.sub(r"\D", "", word) or 0)
    same_id = next((task for task in tasks if task.id == str(number)), None)
    if same_id:
        return same_id
    return tasks[number - 1] if 0 < number <= len(tasks) else None
