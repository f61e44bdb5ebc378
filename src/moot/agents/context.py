"""What an agent is told, whatever kind of agent it is: built from the turn and the team file, and from nothing else.

What other members said stands in quoted lines (`> …`), so that nothing in it can pass for a part of the briefing; what
a person asks for is not quoted. The markers in both are defused, so that an agent that repeats them routes nobody.
Sections without content are left out. All of it keeps within a budget of bytes.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.agents.supervised import Value, brief_values
from moot.config.prompts import read_template
from moot.core.flows.plan.assignment import Assignment, TaskReport
from moot.core.flows.plan.tasks import EXECUTOR, may_do_tasks
from moot.core.flows.supervisor.agent_brief import AgentBrief
from moot.core.flows.supervisor.prompt import build_prompt
from moot.core.flows.turns import TurnInput, list_files
from moot.core.session.attachments import HandedFile
from moot.core.session.state import Inquiry, Message
from moot.core.session.team import Language, Member
from moot.core.template import fill_present, list_placeholders
from moot.core.texts import render

BUDGET_BYTES = 65_536
PRONOUNS = ("you", "me", "你", "我")
LEAST_BYTES = 128  # of anything that is shown at all
NO_PROMPTS: Mapping[str, str] = {}

_TEMPLATES = {
    "plan": "planning",
    "patch": "patching",
    "solve": "executing",
    "review": "reviewing",
    "aggregate": "aggregating",
    "evaluate": "evaluating",
    "review_plan": "reviewing_plan",
    "review_answer": "reviewing_answer",
}
_GAP = r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff*_`]*"
_LIVE = re.compile(rf"\[(?={_GAP}(?:NEXT|DROP|DONE|FROM|TEAM_TASK)\b)", re.IGNORECASE | re.ASCII)
_AT = re.compile(r"(?<!\w)@(?=[^\s@])", re.ASCII)  # not in an address of mail


class Context(Struct, frozen=True, kw_only=True):
    """`system` is who the agent is and how it works here; `prompt` is what it is asked now."""

    system: str
    prompt: str
    files: tuple[HandedFile, ...] = ()  # those that the prompt tells of

    @property
    def text(self) -> str:
        """Both, for agents that take one text."""
        return f"{self.system}\n\n{self.prompt}" if self.system else self.prompt


def build_context(
    turn: TurnInput,
    instructions: str = "",
    *,
    prompts: Mapping[str, str] = NO_PROMPTS,
    budget_bytes: int = BUDGET_BYTES,
    is_resumed: bool = False,
    sees: Collection[str] = (),
) -> Context:
    """Build what an agent is told for a turn.

    Args:
        prompts: the team's own templates, by phase; the built-in ones stand for the others.
        is_resumed: the agent remembers its own earlier turns. It is told who it is in one line, and only what was said
            since.
        sees: the types of files whose content the agent is given besides the text.
    """
    files = pick_files(turn, is_resumed=is_resumed)
    told = describe_files(files, turn.language, budget_bytes // 4, sees) if files else ""
    context = _describe_turn(turn, instructions, prompts, budget_bytes - len(told.encode()), is_resumed=is_resumed)
    return replace(context, prompt=f"{context.prompt}\n\n{told}", files=files) if files else context


def pick_files(turn: TurnInput, *, is_resumed: bool) -> tuple[HandedFile, ...]:
    """Return the files that an agent has not seen: all of them, or those that came since it spoke last."""
    if turn.job == "understand":
        return turn.attachments
    messages = list(turn.history)
    recent = _since(messages, turn.member.id) if is_resumed else messages
    new = {file.sha256 for file in list_files((*recent, turn.message))}
    return tuple([file for file in turn.attachments if file.sha256 in new])


def describe_files(
    files: Sequence[HandedFile], language: Language, budget_bytes: int, sees: Collection[str] = ()
) -> str:
    """Tell an agent of attached files: where each is, or what it says."""
    blocks = [f"## {render('context.files', language)}"]
    share = max(budget_bytes // len(files), LEAST_BYTES)
    for file in files:
        name = defuse_other(file.tell())
        if file.path:
            blocks.append(f"- {name}: {file.path}")
        elif file.data is not None and file.media_type in sees:
            blocks.append(f"- {name}: {render('context.file_seen', language)}")
        elif file.text:
            blocks.append(f"- {name}:\n{quote_within(file.text, share, language)}")
        else:
            blocks.append(f"- {name}: {render('context.file_unseen', language)}")
    return "\n\n".join([blocks[0], "\n".join(blocks[1:])])


def _describe_turn(
    turn: TurnInput, instructions: str, prompts: Mapping[str, str], budget_bytes: int, *, is_resumed: bool
) -> Context:
    if turn.job == "understand":  # the prompt of the phase says it all, and quotes what others said
        return Context(system="", prompt=turn.message.text if turn.message else "")
    if is_resumed:
        system = _remind(turn)
    else:
        system = _describe_member(turn, fit(instructions, budget_bytes // 4, turn.language))
    left = budget_bytes - len(system.encode())
    if turn.asked is not None:
        return Context(system=system, prompt=_describe_aside(turn, turn.asked, left))
    told = _describe_answers(turn, left // 4)
    if not turn.is_conversation:  # otherwise the history has them
        told += "".join(f"{describe_message(turn, message)}\n\n" for message in turn.messages)
    left -= len(told.encode())
    if turn.brief is not None:
        return Context(system=system, prompt=told + _describe_brief(turn, turn.brief, prompts, left))
    if turn.assignment is not None and turn.job in _TEMPLATES:
        phase = _TEMPLATES[turn.job]
        template = prompts.get(phase) or _template(phase, turn.language)
        return Context(system=system, prompt=told + _describe_job(turn, turn.assignment, template, left))
    return Context(system=system, prompt=told + _describe_conversation(turn, left, is_resumed=is_resumed))


def _describe_aside(turn: TurnInput, asked: Inquiry, budget_bytes: int) -> str:
    """What a member is told that answers a team-mate: the question, and before it what was said."""
    language, who = turn.language, _name(turn, asked.member)
    question = quote_within(asked.question, budget_bytes // 4, language)
    start = f"{render('context.aside', language, who=who)}\n\n{question}"
    history = _describe_history(turn, turn.history, budget_bytes - len(start.encode()))
    return f"{start}\n\n## {render('context.history', language)}\n\n{history}" if history else start


def _describe_answers(turn: TurnInput, budget_bytes: int) -> str:
    """What the member asked earlier in this turn, and what it was told: its worker is another one now."""
    if not turn.answers:
        return ""
    share = max(budget_bytes // (2 * len(turn.answers)), LEAST_BYTES)
    blocks = []
    for each in turn.answers:
        answer = defuse(each.answer) if _is_human(turn, each.by) else defuse_other(each.answer)
        question = quote_within(each.question, share, turn.language)
        blocks.append(f"{question}\n{_name(turn, each.by)}: {fit(answer, share, turn.language)}")
    return "\n\n".join([render("context.answers", turn.language), *blocks]) + "\n\n"


def describe_message(turn: TurnInput, message: Message) -> str:
    """What an agent is told when a person writes to it while it works."""
    said = _show_request(message.text, BUDGET_BYTES // 2, turn.language)
    return f"{render('context.meanwhile', turn.language, who=_name(turn, message.member))}\n\n{said}"


def defuse(text: str) -> str:
    """Text whose markers route nobody, also when it is repeated outside of its fence or quote."""
    return _LIVE.sub("(", text)


def defuse_other(text: str) -> str:
    """Another member's text, that opens no file either.

    Command-line agents open the file that `@path` names, wherever it stands.
    """
    return _AT.sub("＠", defuse(text))


def quote(text: str) -> str:
    """Defused, and every line marked as somebody else's."""
    return "\n".join(f"> {line}".rstrip() for line in defuse_other(text).splitlines()) or ">"


def quote_within(text: str, budget_bytes: int, language: Language) -> str:
    """Quoted, and cut until it keeps within the budget."""
    keep = max(budget_bytes, LEAST_BYTES)
    quoted = quote(fit(text, keep, language))
    while len(quoted.encode()) > max(budget_bytes, LEAST_BYTES * 2) and keep > LEAST_BYTES:
        keep = keep * 2 // 3
        quoted = quote(fit(text, keep, language))
    return quoted


def fit(text: str, budget_bytes: int, language: Language) -> str:
    """At most about so many bytes; what is left out stands in the middle, and how much it is is said."""
    data = text.encode(errors="replace")
    if len(data) <= budget_bytes:
        return text
    keep = max(budget_bytes // 2, 1)
    head = data[:keep].decode(errors="ignore")
    tail = data[-keep:].decode(errors="ignore")
    left_out = render("context.cut", language, count=len(text) - len(head) - len(tail))
    return f"{head}\n{left_out}\n{tail}"


def _describe_member(turn: TurnInput, instructions: str) -> str:
    me, language = turn.member, turn.language
    lines = [render("context.you", language, name=me.display_name)]
    if me.role:
        lines.append(render("context.role", language, role=me.role))
    if instructions.strip():
        lines += ["", f"## {render('context.instructions', language)}", "", instructions.strip()]
    if turn.team_task:
        task = quote_within(turn.team_task, BUDGET_BYTES // 16, language)
        lines += ["", f"## {render('context.team_task', language)}", "", task]
    others = [each for each in turn.addressable if each.id != me.id]
    lines += [
        "",
        f"## {render('context.members', language)}",
        "",
        *(_describe_other(each, language) for each in others),
    ]
    if turn.is_conversation and others:
        lines += ["", _explain_routing(turn, others)]
    lines += ["", render("context.quoted", language), render("context.language", language)]
    return "\n".join(lines)


def _remind(turn: TurnInput) -> str:
    """Return the short version of `_describe_member`, for an agent that was told all of it before."""
    language = turn.language
    lines = [render("context.still_you", language, name=turn.member.display_name)]
    others = [each for each in turn.addressable if each.id != turn.member.id]
    if turn.is_conversation and others:
        lines.append(_explain_routing(turn, others))
    return "\n".join([*lines, render("context.quoted", language)])


def _explain_routing(turn: TurnInput, others: Sequence[Member]) -> str:
    """Explain how to hand over, and who speaks next otherwise."""
    language = turn.language
    example = next((each for each in others if not each.is_human), others[0])
    names = tuple(_name(turn, member_id) for member_id in turn.waiting)
    following = render("context.queue", language, names=names) if names else render("context.no_queue", language)
    return f"{render('context.routing', language, example=example.name)}\n{following}"


def _describe_other(member: Member, language: Language) -> str:
    kind = render("context.human" if member.is_human else "context.ai", language)
    shown = "" if member.display_name == member.name else f"{member.display_name}; "
    return f"- {member.name} ({shown}{kind}{'; ' + member.role if member.role else ''})"


def _describe_worker(member: Member, language: Language) -> str:
    """Describe a member that may be given tasks: what a planner can write as `member` or `role`, and what it is for."""
    parts = [f"member: {member.id}", f"role: {member.role or EXECUTOR}"]
    parts += [defuse(member.purpose)] if member.purpose else []
    if member.capabilities:
        parts.append(render("context.capabilities", language, names=tuple(map(defuse, member.capabilities))))
    return f"- {member.display_name} ({'; '.join(parts)})"


def _describe_conversation(turn: TurnInput, budget_bytes: int, *, is_resumed: bool) -> str:
    language, newest = turn.language, turn.message
    if newest is None:
        return render("context.your_turn", language)
    who = _name(turn, newest.member)
    if _is_human(turn, newest.member):
        request = _show_request(newest.text, budget_bytes // 2, language)
        start = f"{render('context.asks', language, who=who)}\n\n{request}"
    else:
        words = quote_within(newest.text, budget_bytes // 2, language)
        start = f"{render('context.newest', language, who=who)}\n\n{words}"
    earlier = _earlier(turn, newest)
    if is_resumed:
        earlier = [*turn.unread, *_since(earlier, turn.member.id)]
    history = _describe_history(turn, earlier, budget_bytes - len(start.encode()))
    return f"{start}\n\n## {render('context.history', language)}\n\n{history}" if history else start


def _is_human(turn: TurnInput, member_id: str) -> bool:
    return any(each.is_human for each in turn.addressable if each.id == member_id)


def _show_request(text: str, budget_bytes: int, language: Language) -> str:
    """Return a person's own words: not quoted, because they are what the agent is to do."""
    return fit(defuse(text), max(budget_bytes, LEAST_BYTES), language)


def _earlier(turn: TurnInput, newest: Message) -> list[Message]:
    """What was said before the newest message that says something, and the member's own answer if that came after."""
    history = list(turn.history)
    later: list[Message] = []
    while history and (last := history.pop()) != newest:
        later += [last] if newest.member != turn.member.id and last.member == turn.member.id else []
    return [*history, *(message for message in reversed(later) if not message.is_partial)]


def _since(messages: list[Message], member_id: str) -> list[Message]:
    own = [at for at, message in enumerate(messages) if message.member == member_id]
    return messages[own[-1] + 1 :] if own else messages


def _describe_history(turn: TurnInput, messages: Sequence[Message], budget_bytes: int) -> str:
    """The newest that fit, the oldest first. No message takes more than a quarter."""
    shown: list[str] = []
    left = budget_bytes
    for message in reversed(messages):
        said = quote_within(message.text, budget_bytes // 4, turn.language)
        note = f" ({render('context.unfinished', turn.language)})" if message.is_partial else ""
        block = f"{_name(turn, message.member)}{note}:\n{said}"
        left -= len(block.encode()) + 2
        if left < 0:
            break
        shown.append(block)
    if len(shown) < len(messages):
        shown.append(render("context.left_out", turn.language, count=len(messages) - len(shown)))
    return "\n\n".join(reversed(shown))


def _name(turn: TurnInput, member_id: str) -> str:
    """What a member is called. A human called "You" is told apart from the agent, which is spoken to as "you"."""
    member = next((each for each in turn.addressable if each.id == member_id), None)
    if member is None:
        return member_id
    is_pronoun = member.is_human and member.display_name.casefold() in PRONOUNS
    kind = f" ({render('context.human', turn.language)})" if is_pronoun else ""
    return f"{member.display_name}{kind}"


def _describe_brief(turn: TurnInput, brief: AgentBrief, prompts: Mapping[str, str], budget_bytes: int) -> str:
    """The supervisor's prompt is built where its sections are known; what it says of others is cut, not quoted."""
    phase = "supervisor" if brief.briefing else "acting"
    template = prompts.get(phase) or _template(phase, turn.language)
    values = {
        name: _show_value(value, turn.language)
        for name, value in brief_values(brief, budget_bytes, turn.language).items()
    }
    if brief.briefing:
        tools = "".join(_describe_tools(values, turn.language))
        room = budget_bytes - len(tools.encode())
        return fit(defuse_other(build_prompt(template, brief.briefing)), room, turn.language) + tools
    return _fill(template, values)


def _show_value(value: Value, language: Language) -> str:
    if not value.text.strip():
        return ""
    if value.is_quoted:
        return quote_within(value.text, value.most_bytes, language)
    return fit(defuse(value.text), max(value.most_bytes, LEAST_BYTES), language)


def _describe_tools(values: Mapping[str, str], language: Language) -> Iterator[str]:
    """For the supervisor, whose prompt knows nothing of tools: what it may call, and what that gave."""
    for name in ("tools", "results"):
        if values[name]:
            yield f"\n\n{render(f'context.{name}', language)}\n{values[name]}"


def _describe_job(turn: TurnInput, assignment: Assignment, template: str, budget_bytes: int) -> str:
    """Fill the template of the job. A change that is to be judged takes half of the room at most.

    The team's own template need not name it: then it stands at the end.
    """
    room = max(budget_bytes - len(template.encode()), LEAST_BYTES)
    diff = _describe_diff(turn, room // 2)
    values = _job_values(turn, assignment, room - len(diff.encode()))
    filled = _fill(template, {**values, "diff": diff})
    is_named = not diff or "diff" in list_placeholders(template)
    return filled if is_named else f"{filled}\n\n{render('context.diff', turn.language)}\n{diff}"


def _describe_diff(turn: TurnInput, budget_bytes: int) -> str:
    """What the work changed, quoted like everything that others made."""
    if not turn.diff.strip():
        return ""
    note = render("context.diff_at", turn.language)
    shown = quote_within(turn.diff, budget_bytes - len(note.encode()), turn.language)
    return f"{shown}\n{note}" if "＠" in shown else shown


def _fill(template: str, values: Mapping[str, str]) -> str:
    def find(name: str) -> str:
        value = values.get(name, "")
        is_block = "\n" in value or value.startswith((">", "-"))
        return f"\n{value}" if is_block else value

    filled = fill_present(template, find).replace(": \n", ":\n")
    return re.sub(r"\n{3,}", "\n\n", filled).strip()


@cache
def _template(name: str, language: Language) -> str:
    return read_template(name, language)


def _job_values(turn: TurnInput, assignment: Assignment, budget_bytes: int) -> dict[str, str]:
    """Every template's placeholders. Those of one template together keep within the budget."""
    language, task, tasks = turn.language, assignment.task, assignment.tasks
    eighth = budget_bytes // 8

    def show(text: str, eighths: int) -> str:
        return quote_within(text, eighths * eighth, language) if text.strip() else ""

    done = [each for each in tasks if each.result]
    own = next((each for each in done if task and each.task.id == task.id), None)
    others = [each for each in done if each is not own]
    said = [message for message in turn.history if message.text.strip() != assignment.question.strip()]
    return {
        "goal": _show_request(assignment.question, eighth, language),
        "history": _describe_history(turn, said, 2 * eighth),
        "members": "\n".join(_describe_worker(each, language) for each in _list_doers(turn.addressable)),
        "snapshot": show("\n".join(map(_describe_task, tasks)), 2),
        "feedback": show(_describe_feedback(turn, assignment), 1),
        "task": show(_dump(task.document), 2) if task else "",
        "inputs": _describe_results(others, (2 if own else 3) * eighth, language),
        "results": _describe_results(done, 3 * eighth, language),
        "missing": show("\n".join(_describe_task(each) for each in tasks if not each.result), 2),
        "result": show(own.result, 3) if own else "",
        "change": _show_request(assignment.feedback, 2 * eighth, language),
        "before": show(assignment.before, 1),
        "answer": show(assignment.answer, 3),
        "trouble": show(assignment.trouble, 2),
        "language": render("language.name", language),
    }


def _list_doers(members: Sequence[Member]) -> list[Member]:
    """Return the AIs that may be given tasks: those that lead only if there are no others."""
    ais = [member for member in members if not member.is_human]
    return [member for member in ais if may_do_tasks(member)] or ais


def _describe_feedback(turn: TurnInput, assignment: Assignment) -> str:
    """What was wrong before; to a planner who patches, the feedback is the change itself."""
    again = [render("context.attempt", turn.language, attempt=assignment.attempt)] if assignment.attempt > 1 else []
    said = [] if turn.job == "patch" else [assignment.feedback]
    return "\n".join(text for text in (*again, *said, *assignment.problems) if text.strip())


def _describe_task(report: TaskReport) -> str:
    return f"{_dump(report.task.document)} [{report.state}]"


def _describe_results(reports: Sequence[TaskReport], budget_bytes: int, language: Language) -> str:
    """Each gets the same share; of very many only the first are shown, and how many are left out is said."""
    most = max(budget_bytes // (4 * LEAST_BYTES), 1)
    share = budget_bytes // max(min(len(reports), most), 1)
    shown = [_describe_result(report, share, language) for report in reports[:most]]
    if len(reports) > most:
        shown.append(render("context.left_out_results", language, count=len(reports) - most))
    return "\n\n".join(shown)


def _describe_result(report: TaskReport, budget_bytes: int, language: Language) -> str:
    title = defuse_other(f"{report.task.id} · {report.task.title}:")
    return f"{title}\n{quote_within(report.result, budget_bytes - len(title.encode()), language)}"


def _dump(document: dict[str, object]) -> str:
    return msgspec.json.encode(document).decode()
