"""A trivial understander to be better than: a list of words, no structure, no context."""

import re

from msgspec.structs import replace

from moot.core.intake.intent import Action, IntentAnalysis, Relation, SemanticInput, TaskRelation
from moot.runtime.understanding.rules.understand import analyse

_WORDS: tuple[tuple[Relation, re.Pattern[str]], ...] = (
    (
        "control_instruction",
        re.compile(r"\b(?:stop|pause|cancel|abort|resume|wait|status|progress)\b|停|暂停|取消|终止|继续|进度"),
    ),
    ("same_task_major_change", re.compile(r"\b(?:instead|start over|from scratch|rewrite)\b|重来|推翻|改成|不要")),
    ("different_task", re.compile(r"\b(?:write|draft|create|generate|something else|new task)\b|写|画|另外")),
    (
        "same_task_minor_change",
        re.compile(r"\b(?:add|also|change|use|make|remove|skip|keep|fix|should)\b|加|改|换|删|把|别"),
    ),
)

_ACTIONS: dict[Relation, Action] = {
    "control_instruction": "cancel",
    "same_task_major_change": "modify",
    "same_task_minor_change": "modify",
    "different_task": "create",
    "same_task_no_change": "continue",
}


def label(request: SemanticInput) -> IntentAnalysis:
    text = request.raw_input.lower()
    matching: list[Relation] = [relation for relation, words in _WORDS if words.search(text)]
    relation: Relation = matching[0] if matching else "same_task_no_change"
    analysis = analyse(request)
    analysis = replace(
        analysis,
        normalized_intent=replace(analysis.normalized_intent, action=_ACTIONS[relation]),
        task_relation=TaskRelation(type=relation, confidence=0.8, reasoning="word list"),
        assessment=None,
    )
    is_control = relation == "control_instruction"
    return replace(analysis, control_action="cancel" if is_control else None)
