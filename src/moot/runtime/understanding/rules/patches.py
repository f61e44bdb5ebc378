"""Orders about a task of the plan that need no planner: "cancel the second task", "do t3 first"."""

import re
from collections.abc import Sequence

from moot.core.intent import KnownTask, PlanPatch
from moot.runtime.understanding.rules.similarity import Context
from moot.runtime.understanding.rules.words import pieces

_REMOVE = re.compile(
    r"\b(?:cancel|remove|skip|drop|delete|omit|leave out|get rid of|don'?t (?:do|need)|no need for|scrap)\b"
    r"|取消|删除?|去掉|跳过|不(?:要|做|用做|需要)|移除|砍掉|略过"
)
_REFUSED = re.compile(
    r"\b(?:don'?t|do not|never|no need to) (?:cancel|remove|skip|drop|delete)"
    r"|(?:别|不要|先别|不用|不能)(?:取消|删|去掉|跳过|移除)"
)
_FIRST = re.compile(r"\bfirst\b(?! task| step| one)|\b(?:before|prioriti[sz]e)\b|先(?:做|执行|跑|处理|完成)|优先")
_ENGLISH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = {word: n for words in (_ENGLISH, "一二三四五六七八九十") for n, word in enumerate(words, start=1)}
_ORDINAL = re.compile(
    rf"\b(?P<a>{'|'.join(_ENGLISH)}|last|\d{{1,2}}(?:st|nd|rd|th)) (?:task|step|item|one|job)\b"
    r"|\b(?:task|step|item|job) ?(?:no\.? ?|number |#)?(?P<b>\d{1,3})\b"
    r"|第(?P<c>[一二三四五六七八九十]|\d{1,2})(?:(?:个|项|条)(?:任务|步骤|子任务)|步)|(?:任务|步骤) ?(?P<d>\d{1,3})"
    r"|(?P<e>最后)(?:一)?(?:个|项)(?:任务|步骤)|(?P<f>最后)一步"
)
_DONE = frozenset({"done", "completed", "cancelled"})
TITLE_SHARE = 0.75  # of a title's pieces that must be said before the task is meant


def mentions(text: str) -> bool:
    """A task is spoken of, whether or not there is a plan to find it in."""
    return bool(_ORDINAL.search(text))


def find_tasks(text: str, tasks: Sequence[KnownTask]) -> tuple[KnownTask, ...]:
    """By id, by place, or by title; in the order they were named as far as that can be told."""
    if not tasks:
        return ()
    lowered = text.lower()
    by_id = [task for task in tasks if re.search(rf"(?<![\w-]){re.escape(task.id.lower())}(?![\w-])", lowered)]
    named = [task for task in by_id if not task.id.isdigit()]
    if named:
        return tuple(named)
    by_place = [task for found in _ORDINAL.finditer(lowered) if (task := _at(found, tasks))]
    if by_place:
        return tuple(dict.fromkeys(by_place))
    said = pieces(lowered)
    return tuple(
        task for task in tasks if (title := pieces(task.title)) and len(title & said) / len(title) >= TITLE_SHARE
    )


def find_patches(text: str, tasks: Sequence[KnownTask], context: Context) -> tuple[PlanPatch, ...]:
    """Only what is certain: one kind of order, tasks that are found and not yet done."""
    lowered = text.lower()
    if not tasks or _REFUSED.search(lowered) or pieces(lowered) >= context.goal > frozenset():
        return ()
    meant = [task for task in find_tasks(lowered, tasks) if task.status not in _DONE]
    if _REMOVE.search(lowered):
        return tuple(PlanPatch(op="remove", task_id=task.id) for task in meant)
    if _FIRST.search(lowered) and len(meant) == 1:
        return (PlanPatch(op="reorder", task_id=meant[0].id, changes={"after": None}),)
    return ()


def _at(found: re.Match[str], tasks: Sequence[KnownTask]) -> KnownTask | None:
    word = next(group for group in found.groups() if group)
    if word in ("last", "最后"):
        return tasks[-1] if tasks else None
    number = _NUMBERS.get(word) or int(re.sub(r"\D", "", word) or 0)
    same_id = next((task for task in tasks if task.id == str(number)), None)
    if same_id:
        return same_id
    return tasks[number - 1] if 0 < number <= len(tasks) else None
