"""Labelled messages: reading the files, and counting how well somebody labels them."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from moot.core.intake.intent import CurrentTask, IntentAnalysis, KnownTask, Said, SemanticInput, SystemState
from moot.core.intake.intent_routing import decide_route
from moot.runtime.understanding.rules.lexicon import detect_language

RELATIONS = (
    "same_task_no_change",
    "same_task_minor_change",
    "same_task_major_change",
    "different_task",
    "control_instruction",
)
FOLDER = Path(__file__).parents[1] / "tests" / "data" / "intent"


class Item(Struct, frozen=True, kw_only=True):
    id: str
    split: str
    language: str
    request: SemanticInput
    relation: str
    also_ok: tuple[str, ...]
    action: str | None
    control: str | None


class Score(Struct, kw_only=True):
    """Counts over a set; shares are properties."""

    items: int = 0
    right: int = 0
    accepted: int = 0  # counting also_ok
    asked: int = 0
    same: int = 0  # labelled same_task_*
    false_exits: int = 0  # of those: read as another task, or as the end of this one
    controls: int = 0
    right_controls: int = 0
    actions: int = 0
    right_actions: int = 0
    matrices: dict[str, Counter[tuple[str, str]]] = {}
    wrong: list[tuple[Item, str]] = []


def read_items(paths: list[Path]) -> Iterator[Item]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield _item(json.loads(line))


def _item(raw: dict[str, Any]) -> Item:
    context = raw["context"]
    history = (
        each if isinstance(each, dict) else {"role": "user", "content": each} for each in context["recent_history"]
    )
    request = SemanticInput(
        raw_input=raw["input"],
        system_state=SystemState(
            workflow_status=context.get("workflow_status", "execution"), current_task=CurrentTask(goal=context["goal"])
        ),
        recent_history=tuple(
            Said(role="user" if each["role"] == "user" else "agent", content=each["content"]) for each in history
        ),
        tasks=tuple(KnownTask(id=str(task["id"]), title=task.get("title", "")) for task in context.get("tasks", ())),
        language=detect_language(raw["input"]),
    )
    return Item(
        id=raw["id"],
        split=raw.get("split", "-"),
        language=raw.get("lang") or request.language,
        request=request,
        relation=raw["expected_relation"],
        also_ok=tuple(raw.get("also_ok") or ()),
        action=raw.get("expected_action"),
        control=raw.get("expected_control"),
    )


def score(items: list[Item], analyse: Callable[[SemanticInput], IntentAnalysis]) -> Score:
    count = Score(matrices=defaultdict(Counter))
    for item in items:
        analysis = analyse(item.request)
        relation = analysis.task_relation.type
        count.items += 1
        count.right += relation == item.relation
        count.accepted += relation == item.relation or relation in item.also_ok
        decision = decide_route(analysis, item.request.system_state.workflow_status)
        count.asked += decision.route == "wait_user_decision"
        count.matrices[item.language][item.relation, relation] += 1
        if item.relation.startswith("same_task"):
            count.same += 1
            count.false_exits += relation == "different_task" or analysis.control_action == "cancel"
        if item.control:
            count.controls += 1
            count.right_controls += analysis.control_action == item.control
        if item.action:
            count.actions += 1
            count.right_actions += analysis.normalized_intent.action == item.action
        if relation != item.relation:
            count.wrong.append((item, relation))
    return count
