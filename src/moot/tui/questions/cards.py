"""An open question as a card above the composer. A card never takes the focus by itself."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input, TextArea

from moot.core.flows.registry import FLOWS
from moot.core.flows.supervisor.supervision import REVIEW_OUTPUT, STUCK
from moot.core.session import typed_answers
from moot.core.session.commands import Answer
from moot.core.view import Question, View
from moot.tui.keys import Keys
from moot.tui.panes.job_panel import player_name
from moot.tui.text.plain import Button, Chooser, Content, Line, Ticks, plain, plain_line
from moot.tui.words import Words

MOST_BUTTONS = 50
ABOUT_CHANGES = ("take_work", "merge_conflict")


def card_head(question: Question, view: View, words: Words, now: datetime) -> Content:
    """`Needs your decision · asked by Claude · 4:32 left · then: Reject`. Moot is not named as the asker."""
    asker = "" if question.code else question.who or (view.name(question.asked_by) if question.asked_by else "")
    parts = [words("card.title"), *([words("card.by", name=asker)] if asker else [])]
    if len(view.questions) > 1:
        parts.append(words("card.many", at=1, count=len(view.questions)))
    if question.expires_at:
        left = max(0, int((datetime.fromisoformat(question.expires_at) - now) / timedelta(seconds=1)))
        parts.append(words("card.left", time=f"{left // 60}:{left % 60:02}"))
        default = next((option.label for option in question.options if option.id == question.default), question.default)
        parts += [words("card.default", option=default)] if default else []
    return plain_line(" · ".join(parts), "bold yellow")


def plan_lines(question: Question, view: View, words: Words) -> Iterator[Content]:
    if question.plan_summary:
        yield plain(question.plan_summary)
    numbers = {str(task["id"]): str(number) for number, task in enumerate(question.tasks or (), 1)}
    for number, task in enumerate(question.tasks or (), 1):
        who = view.name(str(task["member"])) if task.get("member") else task.get("role") or words("any_executor")
        needed = ", ".join(numbers.get(str(task_id), str(task_id)) for task_id in task.get("depends_on") or ())
        after = f" · {words('after', tasks=needed)}" if needed else ""
        yield Content.assemble(
            plain_line(f"{number}. {task.get('title', '')}", "bold"), plain_line(f"  {who}{after}", "dim")
        )
        for field in ("objective", "deliverable"):
            if text := str(task.get(field) or "").strip():
                yield plain_line(f"   {text}", "dim")


def takes_text(question: Question, view: View) -> bool:
    """Whether any text answers the question. A flow that this version does not have gets the general rule."""
    flow = FLOWS.get(view.flow)
    return flow.takes_text(question) if flow else typed_answers.takes_text(question)


def output_of(question: Question, view: View) -> dict[str, Any]:
    """Return the part of the shared state written by the agent under review."""
    job = view.supervision
    writer = next((member.id for member in view.members if member.role == question.job), question.job)
    return {key: value for key, value in job.state.items() if job.writers.get(key) == writer} if job else {}


def output_lines(question: Question, view: View) -> Iterator[Content]:
    for key, value in output_of(question, view).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield Content.assemble(plain_line(f"{key}: ", "bold"), plain(text))


class Card(Vertical):
    """The card of one question."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    class Answered(Message):
        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class EditAsked(Message):
        def __init__(self, question: Question) -> None:
            super().__init__()
            self.question = question

    def __init__(self, question: Question, view: View, words: Words, keys: Keys, now: datetime) -> None:
        super().__init__(classes=f"card {'plan' if question.kind == 'plan' else 'choice'}")
        self.question = question
        self._view, self._words, self._keys = view, words, keys
        self._head = Line(card_head(question, view, words, now), classes="head")
        self._choices: dict[str, str] = {}  # id of a button → id of its option

    def tick(self, view: View, now: datetime) -> None:
        self._head.show(card_head(self.question, view, self._words, now))

    def refuse(self, sentence: str) -> None:
        problem = self.query_one(".problem", Line)
        problem.show(plain_line(sentence, "bold red"))
        problem.display = True

    def compose(self) -> ComposeResult:
        yield self._head
        with VerticalScroll(classes="what", can_focus=False):
            yield Line(plain(self.question.text))
            if self.question.kind == "plan":
                yield Line(Content("\n").join(plan_lines(self.question, self._view, self._words)))
            elif self.question.code == REVIEW_OUTPUT:
                yield Line(Content("\n").join(output_lines(self.question, self._view)))
            elif self.question.code in ABOUT_CHANGES:
                yield Line(plain_line(self._words("card.changes", shortcut=self._keys.long("changes")), "dim"))
        problem = Line(classes="problem")
        problem.display = False
        yield problem
        yield from self._plan() if self.question.kind == "plan" else self._decision()

    def _plan(self) -> ComposeResult:
        words = self._words
        with Horizontal(classes="buttons"):
            count = len(self.question.tasks or ())
            keys = self._keys
            yield Button(
                f"{words('plan.approve', count=count)} ({keys.short('approve')})", id="approve", classes="primary"
            )
            yield Button(f"{words('plan.edit')} ({keys.short('edit')})", id="edit")
            yield Button(f"{words('plan.reject_ask')} ({keys.short('reject')})", id="reject")
        with Vertical(classes="feedback") as feedback:
            feedback.display = False
            yield Input(placeholder=words("plan.feedback"), id="feedback", compact=True)
            with Horizontal(classes="buttons"):
                yield Button(words("plan.again"), id="again", classes="primary")
                yield Button(words("plan.reject"), id="reject-now")

    def _decision(self) -> ComposeResult:
        question, words = self.question, self._words
        options = question.options
        if question.selection == "multiple" and options:
            labels = [(" · ".join(filter(None, (option.label, option.description))), option.id) for option in options]
            yield Ticks(labels, id="ticks")
        elif options:
            with Vertical(classes="options"):
                for number, option in enumerate(options[:MOST_BUTTONS]):
                    self._choices[f"option-{number}"] = option.id
                    label = player_name(option.label, self._view) if question.code == STUCK else option.label
                    yield Button(f"{number + 1}. {label}", hint=option.description, id=f"option-{number}")
        if any(option.id == "reassign" for option in options):
            members = [(member.display_name, member.id) for member in self._view.members if not member.is_human]
            with Horizontal(classes="buttons"):
                yield Line(plain_line(words("reassign_to") + " "))
                yield Chooser([(words("anybody"), "-"), *members], "-", id="reassign-to")
        if takes_text(question, self._view):
            yield Input(placeholder=words("card.answer"), id="answer", compact=True)
        if takes_text(question, self._view) or question.selection == "multiple":
            with Horizontal(classes="buttons"):
                yield Button(words("card.send"), id="send", classes="primary")
        if question.code == REVIEW_OUTPUT:
            with Vertical(classes="output") as form:
                form.display = False
                text = json.dumps(output_of(question, self._view), ensure_ascii=False, indent=2)
                yield TextArea(text, id="output", show_line_numbers=False, compact=True)
                with Horizontal(classes="buttons"):
                    yield Button(words("card.save"), id="save", classes="primary")

    # actions

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self._do(event.button.id or "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._do("again" if event.input.id == "feedback" else "send")

    def press(self, name: str) -> None:
        """Approve, edit or reject the plan of this card. No effect on other questions."""
        if self.question.kind == "plan":
            self._do(name)

    def _do(self, name: str) -> None:
        if name in self._choices:
            self._choose(self._choices[name])
        elif name == "approve":
            self._answer(confirmed=True)
        elif name == "edit":
            self.post_message(self.EditAsked(self.question))
        elif name == "reject":
            feedback = self.query_one(".feedback")
            feedback.display = not feedback.display
            self.query_one("#feedback").focus()
        elif name == "reject-now":
            self._answer(confirmed=False)
        elif name == "again":
            feedback_text = self.query_one("#feedback", Input).value.strip()
            self._answer(**({"answer": feedback_text} if feedback_text else {"confirmed": False}))
        elif name == "send":
            self._send()
        elif name == "save":
            self._save()

    def _save(self) -> None:
        """Send the edited output if it is valid JSON; the session checks the rest."""
        try:
            state = json.loads(self.query_one("#output", TextArea).text)
        except ValueError as error:
            self.refuse(f"JSON: {error}")
        else:
            self._answer(choice="edit", state=state)

    def _choose(self, choice: str) -> None:
        if choice == "edit" and self.query(".output"):
            self.query_one(".output").display = True
            self.query_one("#output").focus()
            return
        to = self.query_one("#reassign-to", Chooser).value if choice == "reassign" else "-"
        text = self.query_one("#answer", Input).value.strip() if self.query("#answer") else ""
        answer = text or (str(to) if to != "-" else "")
        self._answer(choice=choice, **({"answer": answer} if answer else {}))

    def _send(self) -> None:
        text = self.query_one("#answer", Input).value.strip() if self.query("#answer") else ""
        selected_ids = tuple(self.query_one("#ticks", Ticks).selected) if self.query("#ticks") else ()
        if text or selected_ids:
            self._answer(
                **({"selected_ids": selected_ids} if selected_ids else {}), **({"answer": text} if text else {})
            )

    def _answer(self, **fields: Any) -> None:
        self.post_message(self.Answered(Answer(step_id=self.question.step_id, **fields)))
