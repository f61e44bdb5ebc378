"""The editor of a plan: a table of its tasks, a form for the selected task, and buttons."""

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import DataTable, Input

from moot.core.session.commands import Answer
from moot.core.view import Question, View
from moot.tui.questions import plan_edit
from moot.tui.questions.plan_edit import Tasks
from moot.tui.text.plain import Button, Chooser, Line, Table, plain_line
from moot.tui.words import Words

NOBODY = "-"


class PlanEditor(Vertical):
    """Replaces the card of the question. `draft` holds the `tasks` of an earlier edit of the same plan."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+up", "move(-1)", show=False, priority=True),
        Binding("alt+down", "move(1)", show=False, priority=True),
        Binding("ctrl+s", "approve", show=False, priority=True),
    ]

    class Approved(Message):
        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    class Left(Message):
        """Somebody closed the editor; the card comes back and the draft is kept."""

    def __init__(self, question: Question, view: View, words: Words, draft: Tasks | None = None) -> None:
        super().__init__(classes="editor")
        self.question = question
        self.proposed: Tasks = tuple(question.tasks or ())
        self.tasks: Tasks = draft if draft is not None else self.proposed
        self._view, self._words = view, words
        self._at = 0
        self._refused = ""

    def compose(self) -> ComposeResult:
        words = self._words
        yield Line(plain_line(words("plan.title"), "bold"), classes="head")
        yield Table(cursor_type="row", id="tasks", zebra_stripes=True)
        yield Input(placeholder=words("plan.task_title"), id="title", compact=True, select_on_focus=False)
        with Horizontal(classes="form"):
            members = [(member.display_name, member.id) for member in self._view.members if not member.is_human]
            yield Chooser([(words("any_executor"), NOBODY), *members], NOBODY, id="who")
            yield Input(
                placeholder=f"{words('plan.deps')}: {words('plan.after_hint')}",
                id="after",
                compact=True,
                select_on_focus=False,
            )
        with Horizontal(classes="buttons"):
            yield Button(f"+ {words('plan.add')}", id="add")
            yield Button(words("plan.remove"), id="remove")
            yield Button("↑", id="up")
            yield Button("↓", id="down")
        yield Line(id="problems")
        with Horizontal(classes="buttons"):
            yield Button("", id="approve", classes="primary")
            yield Button(words("plan.later"), id="later")
            yield Button(words("plan.reset"), id="reset")

    def on_mount(self) -> None:
        words, table = self._words, self.query_one("#tasks", Table)
        table.name_columns(("", words("plan.task_title"), words("plan.who"), words("plan.deps"), ""))
        self._draw()
        self._fill()
        table.focus()

    # display

    def _draw(self) -> None:
        words = self._words
        changes, problems = plan_edit.diff(self.proposed, self.tasks), plan_edit.find_problems(self.tasks)
        wrong = {problem.at for problem in problems}
        self.query_one("#tasks", Table).show(
            [self._row(at, changes, at in wrong) for at in range(len(self.tasks))], self._at
        )
        notes = [words(problem.code, **problem.params) for problem in problems]
        notes += [self._refused] if self._refused else []
        notes += [f"− {task.get('title', '')}" for task in changes.removed]
        self.query_one("#problems", Line).show(
            plain_line(" · ".join(notes), "red" if problems or self._refused else "dim")
        )
        count = len(self.tasks)
        key = "plan.approve_changed" if changes.count else "plan.approve"
        approve = self.query_one("#approve", Button)
        approve.rename(words(key, count=count, changed=changes.count))
        approve.disabled = bool(problems)
        self.query_one("#reset", Button).disabled = not changes.count

    def _row(self, at: int, changes: plan_edit.Diff, is_wrong: bool) -> list[tuple[str, str]]:
        task, words = self.tasks[at], self._words
        who = self._view.name(str(task["member"])) if task.get("member") else task.get("role") or words("any_executor")
        fields = ("added",) if task["id"] in changes.added else changes.changed.get(task["id"], ())
        marks = ", ".join(words(f"changed.{field}") for field in fields)
        return [
            (str(task["id"]), "dim"),
            (str(task.get("title", "")), "red" if is_wrong else "bold" if fields else ""),
            (str(who), ""),
            (", ".join(map(str, task.get("depends_on") or ())), ""),
            (marks, "yellow"),
        ]

    def _fill(self) -> None:
        """Show the selected row in the form, without reporting that as a change."""
        task: dict[str, Any] = self.tasks[self._at] if self._at < len(self.tasks) else {}
        with self.prevent(Input.Changed, Chooser.Changed):
            _put(self.query_one("#title", Input), str(task.get("title", "")))
            _put(self.query_one("#after", Input), ", ".join(map(str, task.get("depends_on") or ())))
            who, known = self.query_one("#who", Chooser), {member.id for member in self._view.members}
            who.value = task["member"] if task.get("member") in known else NOBODY

    def refuse(self, sentence: str) -> None:
        """Show why the session refused the plan."""
        self._refused = sentence
        self._draw()

    # actions

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if event.cursor_row != self._at and event.cursor_row < len(self.tasks):
            self._at = event.cursor_row
            self._fill()

    def on_data_table_row_selected(self) -> None:
        self.query_one("#title", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "title":
            self._patch(title=event.value)
        elif event.input.id == "after":
            ids = [part.strip() for part in event.value.replace("，", ",").split(",") if part.strip()]
            self._patch(depends_on=ids)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#tasks", Table).focus()

    def on_select_changed(self) -> None:
        """Read the current value: the event may be older than the last time the form was filled."""
        value = self.query_one("#who", Chooser).value
        member = None if value == NOBODY else str(value)
        if self._at < len(self.tasks) and self.tasks[self._at].get("member") != member:
            self._patch(member=member)

    def _patch(self, **fields: Any) -> None:
        if self._at < len(self.tasks):
            self._change(plan_edit.patch(self.tasks, self._at, **fields))

    def _change(self, tasks: Tasks) -> None:
        self.tasks, self._refused = tasks, ""
        self._at = min(self._at, max(0, len(tasks) - 1))
        with self.prevent(DataTable.RowHighlighted):
            self._draw()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        match event.button.id:
            case "add":
                self._change(plan_edit.add(self.tasks))
                self._at = len(self.tasks) - 1
                self._change(self.tasks)
                self._fill()
                self.query_one("#title", Input).focus()
            case "remove" if self.tasks:
                self._change(plan_edit.remove(self.tasks, self._at))
                self._fill()
            case "reset":
                self._change(self.proposed)
                self._fill()
            case "up":
                self.action_move(-1)
            case "down":
                self.action_move(1)
            case "later":
                self.post_message(self.Left())
            case "approve":
                self.action_approve()

    def action_move(self, by: int) -> None:
        moved = plan_edit.move(self.tasks, self._at, by)
        if moved != self.tasks:
            self._at += by
            self._change(moved)

    def action_approve(self) -> None:
        if plan_edit.find_problems(self.tasks):
            return
        edited = self.tasks if plan_edit.diff(self.proposed, self.tasks).count else None
        self.post_message(self.Approved(Answer(step_id=self.question.step_id, confirmed=True, tasks=edited)))


def _put(field: Input, text: str) -> None:
    """Set the text of a field and move the cursor to its end."""
    field.value = text
    field.cursor_position = len(text)
