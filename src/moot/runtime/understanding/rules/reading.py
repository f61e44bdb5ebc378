"""What the rules look at, and what they find: a message, and its reading."""

from collections.abc import Sequence

from msgspec import Struct

from moot.core.intake.intent import Action, ControlAction, Relation, WorkflowStatus
from moot.runtime.understanding.rules.clauses import ORDERS, Act, Clause, any_is
from moot.runtime.understanding.rules.similarity import Context, Overlap
from moot.runtime.understanding.rules.tokens import Prose, count_chinese, words_of

NO_CHANGE: Relation = "same_task_no_change"
MINOR: Relation = "same_task_minor_change"
MAJOR: Relation = "same_task_major_change"
DIFFERENT: Relation = "different_task"
CONTROL: Relation = "control_instruction"
_CONTROLS: dict[Act, tuple[ControlAction, Action]] = {
    Act.CANCEL: ("cancel", "cancel"),
    Act.TAKE_BACK: ("cancel", "cancel"),
    Act.PAUSE: ("pause", "modify"),
    Act.ASIDE: ("pause", "modify"),
    Act.RESUME: ("resume", "continue"),
    Act.STATUS: ("status_query", "query"),
}


class Message(Struct, frozen=True, gc=False):
    """A message with everything the rules look at."""

    prose: Prose
    clauses: Sequence[Clause]
    context: Context
    overlap: Overlap
    status: WorkflowStatus
    has_patches: bool

    def has(self, *acts: Act) -> bool:
        return any_is(self.clauses, *acts)

    def orders(self) -> list[Clause]:
        return [clause for clause in self.clauses if clause.act in ORDERS]

    @property
    def names_goal(self) -> bool:
        """Whether a control names the goal."""
        return any(clause.names_goal for clause in self.clauses)

    @property
    def length(self) -> int:
        """In words; two Chinese characters count as one."""
        return len(words_of(self.prose.text)) + count_chinese(self.prose.text) // 2


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    """The relation that a rule found. Its text is `intent.<reason>` of the catalogue."""

    relation: Relation
    confidence: float
    reason: str
    action: Action = "continue"
    control: ControlAction | None = None
    is_vague: bool = False


def as_control(act: Act, confidence: float) -> Reading:
    control, action = _CONTROLS[act]
    return Reading(relation=CONTROL, confidence=confidence, reason=control, action=action, control=control)


def as_same(confidence: float, reason: str, action: Action = "continue") -> Reading:
    return Reading(relation=NO_CHANGE, confidence=confidence, reason=reason, action=action)


def as_minor(confidence: float, reason: str = "detail") -> Reading:
    return Reading(relation=MINOR, confidence=confidence, reason=reason, action="modify")


def as_major(confidence: float, reason: str) -> Reading:
    return Reading(relation=MAJOR, confidence=confidence, reason=reason, action="modify")


def as_different(confidence: float, reason: str, action: Action = "create") -> Reading:
    return Reading(relation=DIFFERENT, confidence=confidence, reason=reason, action=action)
