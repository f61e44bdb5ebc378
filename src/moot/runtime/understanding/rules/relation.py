"""How a message relates to the running work: a list of rules over the acts of its clauses; the first match wins.

Each rule is a function from a `Message` to a `Reading`, or None if it does not apply. `_RULES` lists them in order:
specific statements ("something else: …") come before general ones ("an order"). Confidences are tuned on the
development half of tests/data/intent (`make bench-intent`). What no rule is sure of has so little confidence that the
person is asked: a small change needs more than 0.7, a cancel 0.8, everything else 0.6.
"""

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from moot.core.intake.intent_routing import ACTIVE
from moot.runtime.understanding.rules.changes import names_other_deliverable, replaces_goal
from moot.runtime.understanding.rules.clauses import ORDERS, Act, Clause, any_has, any_is
from moot.runtime.understanding.rules.lexicon import find_lexicon
from moot.runtime.understanding.rules.patches import mentions_task
from moot.runtime.understanding.rules.reading import (
    MAJOR,
    MINOR,
    Message,
    Reading,
    as_control,
    as_different,
    as_major,
    as_minor,
    as_same,
)
from moot.runtime.understanding.rules.similarity import Context, Overlap, measure_overlap
from moot.runtime.understanding.rules.tokens import stem, tokens_of
from moot.runtime.understanding.rules.topics import (
    COMMON_PARTS,
    PRIVATE_FIELDS,
    fields_of,
    is_private,
    is_unrelated,
    shares_field,
)

# Acts beside a control that do not change its meaning.
_NEUTRAL = frozenset({Act.ACK, Act.AWAY, Act.FACT, Act.GO_ON, Act.RETRY, Act.TAKE_BACK, Act.KEEP_RUNNING})
_DROPS = (Act.CANCEL, Act.TAKE_BACK)
_STATEMENTS = (Act.FACT, Act.RETRY)
_AFTER_DROP = (*ORDERS, Act.RESTART, Act.EXPLAIN)  # "forget that, look into the other one" orders, too
_DEFINITE = re.compile(r"\b(?:the|your|our) ([a-z]+)")
_RELATIVE = re.compile(r"(\b(?:a|an|some) (?:\S+ ){1,3}?)that ")  # "a script that …" points to nothing
_YOU = re.compile(r"\b(?:you|your)\b|你")
_AGAIN = re.compile(r"from scratch|\bover $|\bagain $")
_AGAIN_TOKENS = tokens_of(
    "start write rewrite redo build do begin plan over again from scratch create out can could completely"
)
RICH_CONTEXT_TOKENS = 40  # with fewer, sharing a field with the work proves little
CERTAIN_CHANGE = 0.7  # what a small change needs, so that nobody is asked
WORDS_OF_A_REASON = 6  # beside "stop"; what says more may want something else
SHORT_WORDS = 12  # answers are short; a longer message says more than was asked


def _match_no_words(message: Message) -> Reading | None:
    """Only pasted output, or nothing at all."""
    if message.clauses:
        return None
    return as_same(0.78, "pasted", "clarify") if message.prose.is_pasted else as_same(0.62, "nothing_said")


def _match_task(message: Message) -> Reading | None:
    """An order about one task of the plan: "skip step 3"."""
    if message.has_patches:
        return as_minor(0.88, "task_named")
    orders_task = message.has(Act.ORDER, Act.CANCEL, Act.WISH) and mentions_task(message.prose.text)
    return as_minor(0.76, "task_named") if orders_task and message.length <= SHORT_WORDS else None


def _match_choice(message: Message) -> Reading | None:
    """A short reply in words of the agent's question: "drop them" after "drop or keep them?"."""
    if (
        not message.context.last_question
        or message.length > SHORT_WORDS // 2
        or message.has(Act.QUERY, Act.STATUS, Act.PAUSE, Act.ASIDE)
    ):
        return None
    if any(clause.has("additive") for clause in message.orders()):
        return None
    named, asked = message.overlap.tokens, tokens_of(message.context.last_question)
    said = message.prose.text.strip(" .!。！吧")
    is_quoted = bool(said) and said in message.context.last_question.lower()
    is_choice = bool(named) and len(named & asked) >= len(named) / (2 if all(map(str.isascii, named)) else 3)
    return as_same(0.84, "answer", "clarify") if is_quoted or is_choice else None


def _match_bare_reply(message: Message) -> Reading | None:
    """Yes or no to the agent's question, and what follows from it: "no, remove it"."""
    question, (first, *rest) = message.context.last_question, message.clauses
    if not question or not first.has("bare reply") or len(rest) > 1:
        return None
    asked = tokens_of(question)
    follows = all(clause.act in ORDERS and _says_no_more(clause, asked) for clause in rest)
    return as_same(0.84, "answer", "clarify") if follows else None


def _says_no_more(clause: Clause, asked: frozenset[str]) -> bool:
    """Whether an order names nothing but what was asked about."""
    return tokens_of(clause.object) <= asked if clause.lexicon.has_spaces else len(clause.text) <= 3


def _match_left_alone(message: Message) -> Reading | None:
    """Praise for what is to stay as it is: "don't change the introduction, I like it"."""
    orders = message.orders()
    is_praised = bool(orders) and message.has(Act.ACK) and all(clause.has("leave alone") for clause in orders)
    return as_same(0.8, "agreement") if is_praised else None


def _match_keep_running(message: Message) -> Reading | None:
    """A control that is refused: "don't stop"."""
    return as_same(0.85, "keep_running") if message.has(Act.KEEP_RUNNING) and not message.orders() else None


def _match_switch(message: Message) -> Reading | None:
    """Announced as something else: "on another topic: …"."""
    if not message.has(Act.SWITCH):
        return None
    confidence = 0.6 if message.overlap.work > 0.6 else 0.85
    return as_different(confidence, "switch", "create" if message.orders() else "query")


def _match_other_matter(message: Message) -> Reading | None:
    """A statement brings up another matter, and an order follows: "leave this. The site is down, look into it"."""
    matter = [clause for clause in message.clauses if clause.act in (*_STATEMENTS, *_AFTER_DROP)]
    if len(matter) < 2 or matter[0].act not in _STATEMENTS or matter[-1].act in _STATEMENTS:
        return None
    overlap = measure_overlap(" ".join(clause.text for clause in matter), message.context)
    is_left, is_urgent = message.has(*_DROPS), matter[0].has("trouble")
    enough = 1 if is_urgent else 2 if is_left else 3
    if len(overlap.tokens) < enough or _belongs_to_work(message, matter, overlap):
        return None
    is_unlike = matter[-1].act is not Act.WISH and is_unrelated(overlap.tokens, message.context.work)
    leaves = is_left or is_urgent or message.has(Act.PAUSE) or is_unlike
    return as_different(0.6, "nothing_shared") if leaves else None


def _belongs_to_work(message: Message, matter: Sequence[Clause], overlap: Overlap) -> bool:
    """Whether a matter is of the work, or wants another result of it."""
    if overlap.work or _refers_to_work(matter[0], message.context):
        return True
    return message.names_goal and names_other_deliverable(matter, message.context)


def _match_put_aside(message: Message) -> Reading | None:
    """The work is put off for something else: "leave the migration for now and fix the deploy"."""
    if not any(
        clause.act is Act.ASIDE or (clause.act is Act.PAUSE and clause.names_goal) for clause in message.clauses
    ):
        return None
    wanted = [clause for clause in message.clauses if _wants_something(clause)]
    if not wanted:
        return None
    overlap = measure_overlap(" ".join(clause.core for clause in wanted), message.context)
    is_replaced = overlap.work and any(clause.has("turn") for clause in wanted)
    if overlap.work >= 0.5 or is_replaced:
        return None
    return as_different(0.62 if overlap.work else 0.7, "new_goal_after_cancel")


def _wants_something(clause: Clause) -> bool:
    """An order, a wish, or trouble that has to be seen to."""
    return clause.act in _AFTER_DROP or (clause.act in _STATEMENTS and clause.has("trouble"))


def _match_drop(message: Message) -> Reading | None:
    """ "stop", "forget that", "no article any more": what follows decides whether the work ends or changes."""
    index = next((i for i, clause in enumerate(message.clauses) if clause.act in _DROPS), None)
    is_resumed = message.status == "paused" and message.has(Act.GO_ON, Act.RESUME) and not message.has(Act.CANCEL)
    if index is None or is_resumed:
        return None
    rest = [clause for clause in message.clauses[index + 1 :] if clause.act not in (*_DROPS, Act.ACK, Act.AWAY)]
    if wanted := [clause for clause in rest if clause.act in _AFTER_DROP or clause.has("new thing")]:
        return _read_order_after_drop(message, wanted, is_first=index == 0)
    before = [clause for clause in message.clauses[:index] if not _is_reason(clause, message.context)]
    replaced = _read_replacement(message, before, rest)
    asks_more = any_is(before, *ORDERS, Act.QUERY) or any_is(rest, Act.QUERY)
    return replaced or (None if asks_more else _read_drop(message, rest))


def _read_replacement(message: Message, before: Sequence[Clause], rest: Sequence[Clause]) -> Reading | None:
    """Something is dropped, and what takes its place is named without an order."""
    is_told = bool(rest) or message.names_goal
    if any_is(before, Act.RESTART) or (is_told and replaces_goal(message.clauses, message.context)):
        return as_major(0.78, "goal_replaced")
    is_succeeded = message.names_goal and _names_successor(rest, message.context)
    return as_major(0.72, "goal_replaced") if is_succeeded else None


def _names_successor(clauses: Sequence[Clause], context: Context) -> bool:
    return any_has(clauses, "successor") or names_other_deliverable(clauses, context)


def _read_drop(message: Message, rest: Sequence[Clause]) -> Reading:
    """Nothing is wanted instead. "never mind, it works now" takes back a remark; "never mind" may end the work."""
    if message.has(Act.CANCEL):
        tells_more = len(rest) > 1 or any(len(tokens_of(clause.text)) > WORDS_OF_A_REASON for clause in rest)
        return as_control(Act.CANCEL, 0.7 if tells_more else 0.88)
    if message.has(Act.PAUSE, Act.ASIDE):
        return as_control(Act.CANCEL, 0.7)
    if message.clauses[0].has("remark") and message.clauses[-1].act not in _DROPS:
        return as_same(0.66, "fact")
    return as_control(Act.TAKE_BACK, 0.62)


def _read_order_after_drop(message: Message, wanted: Sequence[Clause], *, is_first: bool) -> Reading | None:
    """Another task if nothing ties it to the work, else a replaced goal, else a detail ("stop, use that server")."""
    overlap = measure_overlap(" ".join(clause.core for clause in wanted), message.context)
    is_replaced = replaces_goal(message.clauses, message.context)
    restarts = any_is(wanted, Act.RESTART)
    has_turn = restarts or _takes_turn(message, wanted)
    makes_new = any(clause.has("new thing") and not clause.has("pointing") for clause in wanted)
    is_apart = makes_new and not has_turn and _is_apart(message, overlap)
    is_swap = _is_wish(wanted, has_turn=has_turn) if message.names_goal else is_replaced
    leaves = is_apart or _goes_elsewhere(wanted, overlap, message.context, is_swap=is_swap)
    if not leaves and (message.names_goal or restarts or is_replaced):
        return as_major(0.78, "goal_replaced")
    if leaves or (makes_new and overlap.work < 0.25):
        return as_different(0.85, "new_goal_after_cancel")
    if makes_new or not is_first:
        return None
    return as_major(0.66, "goal_replaced") if has_turn else _read_detail_after_drop(message, wanted, overlap)


def _takes_turn(message: Message, wanted: Sequence[Clause]) -> bool:
    dropped = [clause for clause in message.clauses if clause.act is Act.TAKE_BACK]
    return any_has((*wanted, *dropped), "turn")


def _is_wish(wanted: Sequence[Clause], *, has_turn: bool) -> bool:
    """Whether what is wanted says how the work should be instead."""
    return has_turn or all(clause.act in (Act.WISH, Act.FACT) for clause in wanted)


def _is_apart(message: Message, overlap: Overlap) -> bool:
    """Whether a new thing shares nothing with the work: not "no docs, generate an SDK", which is of its field."""
    is_akin = message.names_goal and bool(fields_of(overlap.tokens) & fields_of(message.context.work))
    return overlap.work == 0 and not is_akin


def _read_detail_after_drop(message: Message, wanted: Sequence[Clause], overlap: Overlap) -> Reading:
    is_tied = overlap.work or any(_refers_to_work(clause, message.context) for clause in wanted)
    return as_minor(0.72 if is_tied else 0.65)


def _goes_elsewhere(wanted: Sequence[Clause], overlap: Overlap, context: Context, *, is_swap: bool) -> bool:
    """Whether an order has nothing to do with the work. What takes a part's place may: "drop Google, we need SAML"."""
    leaves = any(_is_of_other_life(clause, overlap, context) for clause in wanted)
    return leaves and (not is_swap or is_private(overlap.tokens, context.work))


def _match_replaced_goal(message: Message) -> Reading | None:
    """As in "start over", "not a landing page but a shop"."""
    restart = next((clause for clause in message.clauses if clause.act is Act.RESTART), None)
    if restart and message.status == "paused" and restart.has("resume"):
        return as_control(Act.RESUME, 0.76)  # "start again"
    if restart:
        named = tokens_of(restart.core) - _AGAIN_TOKENS if _AGAIN.search(restart.core) else frozenset()
        is_part = named - message.context.core and len(message.clauses) == 1  # "redo the footer from scratch"
        return as_minor(0.66) if is_part else as_major(0.85, "restart")
    return as_major(0.8, "goal_replaced") if replaces_goal(message.clauses, message.context) else None


def _match_control(message: Message) -> Reading | None:
    """Pause, resume, cancel or status, beside clauses that do not ask for anything else."""
    for act in (Act.CANCEL, Act.PAUSE, Act.ASIDE, Act.RESUME, Act.STATUS):
        if not message.has(act) or (act is Act.STATUS and message.has(Act.GO_ON)):
            continue
        clauses = [clause for clause in message.clauses if not _is_reason(clause, message.context)]
        others = [clause.act for clause in clauses if clause.act is not act]
        if all(other in (*_NEUTRAL, Act.PAUSE, Act.ASIDE, Act.CANCEL, Act.STATUS, Act.QUERY) for other in others):
            if act is Act.RESUME and message.status != "paused":
                return as_control(act, 0.7)
            is_clear = len(others) <= 2 and all(other in _NEUTRAL for other in others)
            return as_control(act, 0.88 if is_clear else 0.66)
    return None


def _is_reason(clause: Clause, context: Context) -> bool:
    """Whether a wish beside a control only says why: "legal wants to see it", "no trip" if that is the goal."""
    return clause.act in ORDERS and (clause.has("reason") or frozenset() < tokens_of(clause.core) <= context.goal)


def _match_next_item(message: Message) -> Reading | None:
    """As in "next: the users table"."""
    is_listed = (
        message.has(Act.FACT)
        and message.clauses[0].lexicon["next item"].match(message.clauses[0].text)
        and message.status != "paused"
    )
    if not is_listed:
        return None
    is_other = message.overlap.work == 0 and len(message.overlap.tokens) >= 4
    return as_different(0.6, "nothing_shared") if is_other else as_minor(0.74)


def _match_go_on(message: Message) -> Reading | None:
    """ "go on" resumes paused work and otherwise changes nothing."""
    if not message.has(Act.GO_ON) or message.orders():
        return None
    if message.has(Act.QUERY) and not (message.status == "paused" and message.clauses[-1].act is Act.GO_ON):
        return None
    return as_control(Act.RESUME, 0.86) if message.status == "paused" else as_same(0.86, "go_on")


def _match_answer(message: Message) -> Reading | None:
    """A short reply to the agent's last question. An order is one too if the question offered a choice."""
    question, orders = message.context.last_question.lower(), message.orders()
    lexicon = find_lexicon(question)
    if not question or message.length > SHORT_WORDS * 2 or message.has(Act.QUERY, Act.EXPLAIN):
        return None
    if any_has(message.clauses, "own") or message.clauses[0].has("additive"):
        return None
    if message.clauses[0].act is Act.ACK and not orders:
        return as_same(0.9, "answer", "clarify")
    if not orders:
        return as_same(0.84, "answer", "clarify")
    is_more = any(clause.has("additive") for clause in orders) or message.length > SHORT_WORDS
    spelt = lexicon.spell(question)
    is_more = is_more or not _is_reply(message, orders, is_open=lexicon["open choice"].match(spelt))
    if is_more or lexicon["offer"].match(spelt) or not lexicon["choice"].match(spelt):
        return None
    return as_same(0.74, "answer", "clarify")


def _is_reply(message: Message, orders: Sequence[Clause], *, is_open: bool) -> bool:
    """Whether an order can be a reply to the last question: in its words, or short if the question is open."""
    if message.overlap.tokens & (tokens_of(message.context.last_question) - message.context.goal):
        return True
    says_more = any(clause.act is Act.SUGGEST or clause.has("new thing") or clause.has("ban") for clause in orders)
    return is_open and not says_more and message.length <= SHORT_WORDS // 2


def _match_order(message: Message) -> Reading | None:
    """An order: too vague to follow, other work, or (mostly) a detail of this work."""
    orders = message.orders()
    if not orders:
        return None
    first = orders[0]
    others = [clause for clause in message.clauses if clause.act not in (Act.ACK, Act.RETRY)]
    if len(others) == 1 and _is_vague(first):
        return Reading(relation=MINOR, confidence=0.45, reason="vague", action="modify", is_vague=True)
    overlap = message.overlap
    if len(message.clauses) <= 4:
        about = measure_overlap(first.object, message.context)
        overlap = Overlap(about.goal, about.work, tokens_of(first.text))
    leaving = _read_new_thing(first, overlap, message)
    if leaving:
        return leaving
    refers, adds = _refers_to_work(first, message.context), first.has("additive")
    if overlap.work or refers or adds:
        confidence = 0.76 + 0.08 * (overlap.work >= 0.2) + 0.04 * adds + 0.03 * refers
        return as_minor(round(min(confidence, 0.9), 2))
    is_usual = overlap.tokens & COMMON_PARTS or fields_of(overlap.tokens) & fields_of(message.context.work)
    is_new = first.has("new thing") and not first.has("pointing")  # "write a letter": whoever has no word for it asks
    is_detail = is_usual or (not is_new and (first.act is Act.WISH or len(overlap.tokens) <= 1))
    return as_minor(0.74 if is_detail else 0.65)  # an order that nothing ties to the work is asked about


def _read_new_thing(clause: Clause, overlap: Overlap, message: Message) -> Reading | None:
    """Whether an order leaves the work: "write a birthday card", "after that, a logo for the meetup"."""
    context, is_new = message.context, clause.has("new thing")
    is_later = any_has(message.clauses, "later")
    if (is_new or clause.act is not Act.WISH) and clause.has("own") and _is_of_other_life(clause, overlap, context):
        return as_different(0.7, "other_field")  # not "the kids can't eat nuts", which only says how
    if _brings_material(clause, message):
        return as_different(0.6, "nothing_shared")
    if clause.has("other matter") and overlap.goal < 0.2 and not clause.has("additive"):
        return as_different(0.62, "nothing_shared")
    if not is_new and not (is_later and overlap.work == 0):
        return None
    if is_unrelated(overlap.tokens, context.work) and overlap.goal < 0.2:
        return as_different(0.8 if overlap.work < 0.1 else 0.66, "other_field")
    if is_later and _is_next_work(clause, overlap):
        return as_different(0.64, "nothing_shared")
    return _read_untied_thing(clause, overlap, context, is_later=is_later)


def _is_next_work(clause: Clause, overlap: Overlap) -> bool:
    """Whether what comes after the work is a work of its own."""
    if clause.has("new thing") and overlap.work < 0.2:
        return True
    return overlap.work == 0 and len(overlap.tokens) >= 2 and not clause.has("pointing")


def _read_untied_thing(clause: Clause, overlap: Overlap, context: Context, *, is_later: bool) -> Reading | None:
    if overlap.work > 0 or _refers_to_work(clause, context):
        return None
    if is_private(overlap.tokens, context.work):
        return as_different(0.62, "other_field")
    if not _is_foreign(overlap, context) or len(overlap.tokens) < (3 if clause.lexicon.has_spaces else 2):
        return None
    is_added = clause.has("additive") and not is_later  # asked about: "also a return policy for the website"
    return as_minor(0.65) if is_added else as_different(0.6, "nothing_shared")


def _brings_material(clause: Clause, message: Message) -> bool:
    """As in "translate this: see you soon"; "translate this" alone is about the work."""
    return clause.has("material") and message.overlap.work == 0 and len(message.overlap.tokens) >= 3


def _match_retry(message: Message) -> Reading | None:
    """As in "try again", "still broken"."""
    return as_same(0.76, "retry") if message.has(Act.RETRY) else None


def _match_question(message: Message) -> Reading | None:
    """A question, about the work or about something else."""
    question = next((clause for clause in message.clauses if clause.act in (Act.QUERY, Act.EXPLAIN)), None)
    if question is None:
        return None
    is_tied = message.overlap.work >= 0.2
    elsewhere = None if is_tied else _match_foreign_question(message, question)
    return elsewhere or as_same(0.84 if is_tied or len(message.overlap.tokens) <= 2 else 0.7, "question", "query")


def _match_foreign_question(message: Message, question: Clause) -> Reading | None:
    """A question that little ties to the work: "what is the capital of France?"."""
    overlap, work = message.overlap, message.context.work
    is_untied, refers = overlap.work == 0, _refers_to_work(question, message.context)
    is_unlike = is_unrelated(overlap.tokens, work) or is_private(overlap.tokens, work)
    if question.has("trivia") and not mentions_task(question.text):  # not "who wrote the second task?"
        return as_different(0.78 if is_unlike or is_untied else 0.6, "other_field", "query")
    if is_unlike and not refers:
        return as_different(0.6, "other_field", "query")
    if _asks_elsewhere(message, question):
        return as_different(0.66, "other_field", "query")
    if len(overlap.tokens) < 3:
        return None
    if question.has("new thing") and overlap.work < 0.1:
        return as_different(0.6, "nothing_shared", "query")  # "explain this SQL: …", "look up how long a visa takes"
    is_open = question.act is Act.EXPLAIN or question.has("open question")
    return as_same(0.56, "question", "query") if is_open and is_untied and not refers else None  # about anything


def _asks_elsewhere(message: Message, question: Clause) -> bool:
    """Whether a question is about the person's own life, what comes later, or how things are done in general."""
    if question.has("own") or any_has(message.clauses, "later"):
        return True
    is_general = (question.has("knowledge") and not _YOU.search(question.text)) or _brings_material(question, message)
    return is_general and message.overlap.work == 0 and len(message.overlap.tokens) >= 2


def _match_statement(message: Message) -> Reading:
    """Agreement, a fact, or a fragment like "dark theme" that may be a fact or a wish. Always matches."""
    if all(clause.act is Act.ACK for clause in message.clauses):
        return as_same(0.92, "agreement")
    facts = [clause for clause in message.clauses if clause.act is Act.FACT]
    is_short = 2 <= message.length <= 8 and not message.prose.is_pasted
    if len(facts) == 1 and is_short and not (facts[0].has("statement") or facts[0].has("report")):
        return as_minor(0.6, "fragment")
    is_likely = message.overlap.work or message.prose.is_pasted or message.length <= 6
    return as_same(0.72 if is_likely else 0.62, "fact", "clarify")


def _is_vague(clause: Clause) -> bool:
    kernel = clause.lexicon.strip_end(clause.lexicon.strip(clause.core, "polite") or clause.core, "tail")
    return any(clause.lexicon["vague"].match(text) for text in (clause.text, clause.core, kernel))


def _is_of_other_life(clause: Clause, overlap: Overlap, context: Context) -> bool:
    """About another field than the work, or about the person's own life: "a card for my mother"."""
    if overlap.goal >= 0.2:
        return False
    return is_unrelated(overlap.tokens, context.work) or (clause.has("own") and overlap.work < 0.4)


def _refers_to_work(clause: Clause, context: Context) -> bool:
    """As in "it", "the second one", or "the header" if the work is a web page."""
    texts = (clause.core,) if clause.has("later") else (clause.core, clause.text)  # "after that" points to its end
    if any(clause.lexicon["pointing"].match(_RELATIVE.sub(r"\1", text)) for text in texts):
        return True
    named = (stem(word) for word in _DEFINITE.findall(clause.core))
    return any(word in context.work or shares_field(word, context.work) for word in named)


def _is_foreign(overlap: Overlap, context: Context) -> bool:
    """Names nothing that most works have, and (if enough is known about the work) nothing of its field."""
    fields, work_fields = fields_of(overlap.tokens), fields_of(context.work)
    shares = bool(fields & work_fields) and not fields & PRIVATE_FIELDS - work_fields
    return not overlap.tokens & COMMON_PARTS and (not shares or len(context.work) < RICH_CONTEXT_TOKENS)


_RULES: tuple[Callable[[Message], Reading | None], ...] = (
    _match_no_words,
    _match_task,
    _match_choice,
    _match_bare_reply,
    _match_keep_running,
    _match_switch,
    _match_other_matter,
    _match_put_aside,
    _match_drop,
    _match_replaced_goal,
    _match_control,
    _match_next_item,
    _match_go_on,
    _match_answer,
    _match_left_alone,
    _match_order,
    _match_retry,
    _match_question,
    _match_statement,
)


def relate(message: Message) -> Reading:
    """Return the reading of the first rule that matches.

    While no work runs, all but controls and changes of what was just finished are a new goal.
    """
    if message.status in ACTIVE:
        return _read(message)
    control = _match_control(message) or _match_idle_control(message)
    return control or _match_finished_work(message) or as_different(0.9, "no_work", "create")


def _read(message: Message) -> Reading:
    return next(reading for rule in _RULES if (reading := rule(message)))


def _match_finished_work(message: Message) -> Reading | None:
    """Thanks for finished work, a question about it, or a change of it. What nothing ties to it is a new goal."""
    if message.status != "completed":
        return None
    reading = _read(message)
    if reading.reason == "agreement":  # nothing is wanted: people are shown where the work stands
        return replace(as_control(Act.STATUS, 0.9), reason=reading.reason)
    return _match_question_back(message, reading) or _match_follow_up(message, reading)


def _match_question_back(message: Message, reading: Reading) -> Reading | None:
    """A question about finished work, or to those who did it: "why did you choose Sunday?"."""
    asked = [clause for clause in message.clauses if clause.act in (Act.QUERY, Act.EXPLAIN)]
    if reading.reason != "question" or message.orders():
        return None
    refers = any(_refers_to_work(clause, message.context) or _YOU.search(clause.text) for clause in asked)
    is_tied = refers or message.overlap.work >= 0.2 or mentions_task(message.prose.text)
    return reading if is_tied else None


def _match_follow_up(message: Message, reading: Reading) -> Reading | None:
    """A change of finished work: "make it shorter"."""
    is_change = reading.relation in (MINOR, MAJOR) and reading.confidence > CERTAIN_CHANGE
    refers = any(_refers_to_work(clause, message.context) for clause in message.orders())
    is_tied = refers or message.overlap.work >= 0.2 or len(message.overlap.tokens) <= 1
    return reading if is_change and (is_tied or message.has(Act.RESTART)) else None


def _match_idle_control(message: Message) -> Reading | None:
    """As in "forget it" and "resume" while nothing runs."""
    is_control = message.clauses and all(clause.act in (Act.TAKE_BACK, Act.RESUME) for clause in message.clauses)
    return as_control(message.clauses[0].act, 0.7) if is_control else None
