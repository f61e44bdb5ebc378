"""The relation of an input to the work: the acts of its clauses, weighed in a fixed order; the first match counts."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from moot.core.intent import Action, ControlAction, Relation, WorkflowStatus
from moot.core.intent_routing import ACTIVE
from moot.runtime.understanding.rules.acts import Act
from moot.runtime.understanding.rules.changes import ORDERS, replaces_goal
from moot.runtime.understanding.rules.clauses import Clause
from moot.runtime.understanding.rules.patches import mentions
from moot.runtime.understanding.rules.similarity import Context, Nearness, compare
from moot.runtime.understanding.rules.topics import COMPANIONS, LIFE, fields_of, is_far, is_home, is_private
from moot.runtime.understanding.rules.words import Prose, count_chinese, pieces, stem, words_of

NO_CHANGE: Relation = "same_task_no_change"
MINOR: Relation = "same_task_minor_change"
MAJOR: Relation = "same_task_major_change"
DIFFERENT: Relation = "different_task"
CONTROL: Relation = "control_instruction"
_CALM = (Act.ACK, Act.AWAY, Act.FACT, Act.GO_ON, Act.RETRY)  # may stand beside a control without changing it
_CONTROLS: dict[Act, tuple[ControlAction, Action]] = {
    Act.CANCEL: ("cancel", "cancel"),
    Act.DROP: ("cancel", "cancel"),
    Act.PAUSE: ("pause", "modify"),
    Act.RESUME: ("resume", "continue"),
    Act.STATUS: ("status_query", "query"),
}
_ENDS_GOAL = re.compile(
    r"(?:stop|cancel|abort|kill|quit|halt|terminate|end|call off)(?:ping)? (?:the |this |that |your |our )?"
    r"(?P<what>[\w -]{3,40}?)(?: (?:right now|now|immediately|at once|please|asap|completely))*$"
    r"|(?:马上|立刻|立即|赶紧)?(?:停止|停掉|取消|终止|中止|停)(?:掉|了)?(?P<zh>[^,]{2,12}?)(?:吧|了|任务|工作)*$"
)
_REASON = re.compile(  # why the run has to wait: what others want, what the person has to do
    r"(?:my|our|the) (?:boss|client|customer|team|manager|colleague)s?\b|i'?m (?:out|going|not|in|busy)"
    r"|老板|客户|领导|同事|经理|对方"
)
_NO_LONGER = re.compile(r"(?:先)?(?:别|不用|不要|不)(?:再)?(?P<what>[一-鿿]{1,2})了(?:吧|啦)?$")
_NEW_PLAN = re.compile(r"\b(?:change of plans?|plans? (?:has |have )?changed|new plan)\b|计划有变|改计划")
_OFFER = re.compile(
    r"else|further|next|other|would you like (?:me )?to (?:change|add|do)|接下来|其他|其它|还有什么|还需要|别的"
)
_NEXT = ("next", "then", "now", "and then", "接下来", "下一步", "然后")
_OPEN = re.compile(r"(?:what(?:'s| is| are)(?! the| your| our)|who|when|where)\b|.{0,6}(?:什么是|谁|何时|哪里)")
_DEFINITE = re.compile(r"\b(?:the|your|our) ([a-z]+)")
_CHOICE = re.compile(r"\b(?:which|what|or|how|where|when|who|prefer)\b|还是|哪|什么|几|多少|怎么|如何")
_AGAIN = re.compile(r"from scratch|\bover$|\bagain$")
_AGAIN_PIECES = pieces(
    "start write rewrite redo build do begin plan over again from scratch create out can could completely"
)
_STATED = re.compile(
    r"^(?:i|we|he|she|they|it|there|the|this|that|our|my|your|these|those|its|you|users?|people|everyone)\b"
    r"|\b(?:is|are|was|were|am|has|have|had|does|did|will|would|can|could|isn't|\w+'(?:s|re|m|ve|ll|d)|\w{3,}ed)\b"
    r"|[是有在了已会能]|大[概约]|一共|差不多|^(?:我|他|她|客户|我们|老板)"
)
MUCH_KNOWN = 40  # pieces of context
SHORT_WORDS = 12  # an answer is short; what is longer says more than was asked


class Message(Struct, frozen=True, gc=False):
    prose: Prose
    clauses: Sequence[Clause]
    context: Context
    near: Nearness
    status: WorkflowStatus
    has_patches: bool

    def has(self, *acts: Act) -> bool:
        return any(clause.act in acts for clause in self.clauses)

    def orders(self) -> list[Clause]:
        return [clause for clause in self.clauses if clause.act in ORDERS]

    @property
    def length(self) -> int:
        """In words; two Chinese characters are about one."""
        return len(words_of(self.prose.text)) + count_chinese(self.prose.text) // 2


class Reading(Struct, frozen=True, kw_only=True, gc=False):
    relation: Relation
    confidence: float
    reason: str  # a key of `reasons`
    action: Action = "continue"
    control: ControlAction | None = None
    is_vague: bool = False


def _control(act: Act, confidence: float) -> Reading:
    control, action = _CONTROLS[act]
    return Reading(relation=CONTROL, confidence=confidence, reason=control, action=action, control=control)


def _same(confidence: float, reason: str, action: Action = "continue") -> Reading:
    return Reading(relation=NO_CHANGE, confidence=confidence, reason=reason, action=action)


def _minor(confidence: float, reason: str = "detail") -> Reading:
    return Reading(relation=MINOR, confidence=confidence, reason=reason, action="modify")


def _major(confidence: float, reason: str) -> Reading:
    return Reading(relation=MAJOR, confidence=confidence, reason=reason, action="modify")


def _different(confidence: float, reason: str, action: Action = "create") -> Reading:
    return Reading(relation=DIFFERENT, confidence=confidence, reason=reason, action=action)


def _pasted_only(said: Message) -> Reading | None:
    if said.clauses:
        return None
    return _same(0.78, "pasted", "clarify") if said.prose.is_pasted else _same(0.62, "nothing_said")


def _task_of_the_plan(said: Message) -> Reading | None:
    if said.has_patches:
        return _minor(0.88, "task_named")
    ends = said.has(Act.ORDER, Act.CANCEL, Act.WISH) and mentions(said.prose.text)
    return _minor(0.76, "task_named") if ends and said.length <= SHORT_WORDS else None


def _kept_running(said: Message) -> Reading | None:
    return _same(0.85, "keep_running") if said.has(Act.KEEP_RUNNING) and not said.orders() else None


def _made_room(said: Message) -> Reading | None:
    """After "forget that" and "stop": what follows decides whether the work ends, changes, or gives way to another."""
    at = next((i for i, clause in enumerate(said.clauses) if clause.act in (Act.DROP, Act.CANCEL)), None)
    if at is None:
        return None
    rest = [clause for clause in said.clauses[at + 1 :] if clause.act not in (Act.ACK, Act.AWAY, Act.DROP, Act.CANCEL)]
    wanted = [clause for clause in rest if clause.act in ORDERS or clause.language.new_thing.match(clause.core)]
    if wanted:
        near = compare(" ".join(clause.core for clause in wanted), said.context)
        if replaces_goal(said.clauses, said.context) and near.work > 0:
            return _major(0.78, "goal_replaced")
        if _NEW_PLAN.search(said.prose.text):
            return _major(0.66, "goal_replaced")
        makes = any(_is_new_thing(clause) for clause in wanted)
        if makes and (near.work < 0.25 or is_far(near.said, said.context.work)):
            return _different(0.85, "new_goal_after_cancel")
        return _minor(0.72) if at == 0 and not makes else None
    if said.has(Act.CANCEL):
        before = any(clause.act in (*ORDERS, Act.QUERY) for clause in said.clauses[:at])
        return None if before or any(clause.act is Act.QUERY for clause in rest) else _control(Act.CANCEL, 0.88)
    if len(said.clauses) > at + 1:  # "never mind, it works now"
        return _same(0.66, "fact") if said.clauses[at].core.startswith(("never", "nvm", "当我")) else None
    alone = at == 0 or all(clause.act is Act.ACK for clause in said.clauses[:at])
    return _control(Act.DROP, 0.62 if alone else 0.55)


def _switched(said: Message) -> Reading | None:
    if not said.has(Act.SWITCH):
        return None
    return _different(0.6 if said.near.work > 0.6 else 0.85, "switch", "create" if said.orders() else "query")


def _replaced(said: Message) -> Reading | None:
    again = next((clause for clause in said.clauses if clause.act is Act.RESTART), None)
    if again:
        named = pieces(again.core) - _AGAIN_PIECES if _AGAIN.search(again.core) else frozenset()
        is_part = named - said.context.core and len(said.clauses) == 1
        return _minor(0.66) if is_part else _major(0.85, "restart")
    return _major(0.8, "goal_replaced") if replaces_goal(said.clauses, said.context) else None


def _run_named(said: Message) -> Reading | None:
    """As in "abort the migration", when migrating is the goal, or 别翻了, when it is a translation."""
    for clause in said.clauses:
        done_with = _NO_LONGER.match(clause.text)
        if done_with and done_with["what"] in said.context.text and len(said.clauses) == 1:
            return _control(Act.PAUSE if "先" in clause.text else Act.CANCEL, 0.76)
        found = _ENDS_GOAL.match(clause.core)
        meant = pieces(found["what"] or found["zh"] or "") if found else None
        if meant and meant <= said.context.goal and len(said.clauses) == 1:
            return _control(Act.CANCEL, 0.76)
    return None


def _controlled(said: Message) -> Reading | None:
    for act in (Act.CANCEL, Act.PAUSE, Act.RESUME, Act.STATUS):
        if not said.has(act):
            continue
        others = [clause.act for clause in said.clauses if clause.act is not act and not _REASON.match(clause.text)]
        if all(other in (*_CALM, Act.PAUSE, Act.CANCEL, Act.STATUS, Act.QUERY) for other in others):
            calm = all(other in _CALM for other in others)
            if act is Act.RESUME and said.status != "paused":
                return _control(act, 0.7)
            return _control(act, 0.88 if calm and len(others) <= 2 else 0.66)
    return None


def _listed_next(said: Message) -> Reading | None:
    """As in "next: the users table"."""
    named = said.has(Act.FACT) and said.clauses[0].text in _NEXT and said.status != "paused"
    return _minor(0.74) if named else None


def _went_on(said: Message) -> Reading | None:
    if not said.has(Act.GO_ON) or said.orders() or said.has(Act.QUERY):
        return None
    return _control(Act.RESUME, 0.86) if said.status == "paused" else _same(0.86, "go_on")


def _answered(said: Message) -> Reading | None:
    asked, orders = said.context.asked, said.orders()
    if not asked or said.length > SHORT_WORDS * 2 or said.has(Act.QUERY, Act.EXPLAIN):
        return None
    first = said.clauses[0]
    if first.act is Act.ACK and not orders:
        return _same(0.9, "answer", "clarify")
    adds = any(clause.language.additive.search(clause.text) for clause in orders)
    if orders and (
        adds or said.length > SHORT_WORDS or _OFFER.search(asked.lower()) or not _CHOICE.search(asked.lower())
    ):
        return None
    return _same(0.74 if orders else 0.84, "answer", "clarify")


def _is_new_thing(clause: Clause) -> bool:
    return bool(clause.language.new_thing.match(clause.core) or clause.language.new_thing.match(clause.text))


def _points(clause: Clause, context: Context) -> bool:
    """Leans on the work: "it", "the second one", "the header" of a page that is being made."""
    if clause.language.pointing.search(clause.core):
        return True
    named = (stem(word) for word in _DEFINITE.findall(clause.core))
    return any(word in context.work or is_home(word, context.work) for word in named)


def _is_strange(near: Nearness, context: Context) -> bool:
    """Nothing that most works have. What is of the same field counts as known once there is more to compare with."""
    ours, theirs = fields_of(near.said), fields_of(context.work)
    at_home = bool(ours & theirs) and not ours & LIFE - theirs
    return not near.said & COMPANIONS and (not at_home or len(context.work) < MUCH_KNOWN)


def _ordered(said: Message) -> Reading | None:
    orders = said.orders()
    if not orders:
        return None
    others = [clause for clause in said.clauses if clause.act not in (Act.ACK, Act.RETRY)]
    if len(others) == 1 and orders[0].language.vague.match(orders[0].core):
        return Reading(relation=MINOR, confidence=0.45, reason="vague", action="modify", is_vague=True)
    first = orders[0]
    near = compare(first.text, said.context) if len(said.clauses) <= 4 else said.near
    makes, far = _is_new_thing(first), is_far(near.said, said.context.work)
    points = _points(first, said.context)
    adds = bool(first.language.additive.search(first.text))
    if makes and far and near.goal < 0.2:
        return _different(0.8 if near.work < 0.1 else 0.66, "other_field")
    if makes and is_private(near.said, said.context.work) and near.work == 0 and not points:
        return _different(0.62, "other_field")
    if makes and _is_strange(near, said.context) and near.work == 0 and not points and len(near.said) >= 3:
        return _different(0.55 if adds else 0.6, "nothing_shared")
    confidence = 0.76 + 0.08 * (near.work >= 0.2) + 0.04 * adds + 0.03 * points
    if not (near.work or points or adds):
        confidence = 0.72  # most orders to running work are about it
    return _minor(round(min(confidence, 0.9), 2))


def _retried(said: Message) -> Reading | None:
    return _same(0.76, "retry") if said.has(Act.RETRY) else None


def _questioned(said: Message) -> Reading | None:
    asked = next((clause for clause in said.clauses if clause.act in (Act.QUERY, Act.EXPLAIN)), None)
    if asked is None:
        return None
    far, near = is_far(said.near.said, said.context.work), said.near
    if near.work < 0.2 and (asked.language.trivia.match(asked.core) or far):
        both = asked.language.trivia.match(asked.core) and (far or near.work == 0)
        return _different(0.78 if both else 0.6, "other_field", "query")
    open_ended = asked.act is Act.EXPLAIN or _OPEN.match(asked.core)
    if open_ended and near.work == 0 and len(near.said) >= 3 and not _points(asked, said.context):
        return _same(0.56, "question", "query")  # may be about anything
    return _same(0.84 if near.work >= 0.2 or len(near.said) <= 2 else 0.7, "question", "query")


def _told(said: Message) -> Reading | None:
    if all(clause.act is Act.ACK for clause in said.clauses):
        return _same(0.92, "agreement")
    facts = [clause for clause in said.clauses if clause.act is Act.FACT]
    if len(facts) == 1 and 2 <= said.length <= 8 and not said.prose.is_pasted and not _STATED.search(facts[0].core):
        return _same(0.58, "fragment", "clarify")  # "dark theme", "python 3.11": a wish or a fact, nobody can tell
    return _same(0.72 if said.near.work or said.prose.is_pasted or said.length <= 6 else 0.62, "fact", "clarify")


_RULES: tuple[Callable[[Message], Reading | None], ...] = (
    _pasted_only,
    _task_of_the_plan,
    _kept_running,
    _switched,
    _made_room,
    _replaced,
    _run_named,
    _controlled,
    _listed_next,
    _went_on,
    _answered,
    _ordered,
    _retried,
    _questioned,
    _told,
)


def relate(said: Message) -> Reading:
    """Without work under way, everything but control is a new goal."""
    if said.status not in ACTIVE:
        found = _controlled(said) or _went_on_nothing(said)
        return found or _different(0.9, "no_work", "create")
    return next(reading for rule in _RULES if (reading := rule(said)))


def _went_on_nothing(said: Message) -> Reading | None:
    only = said.clauses and all(clause.act in (Act.DROP, Act.RESUME) for clause in said.clauses)
    return _control(said.clauses[0].act, 0.7) if only else None
