"""How a fact becomes text for people.

Each flow keeps one `Lines` and registers functions in it, by the type of the fact they tell:

    PLAN_LINES = Lines(SESSION_LINES)  # with everything that every flow has

    @PLAN_LINES.on(PlanCancelled)
    def _cancel_plan(change: Change[PlanCancelled]) -> list[str]:
        return [change.say("plan_cancelled", reason=change.fact.reason)]

`on` registers the lines of a transcript, which may depend on the session before and after the fact. `message` registers
what a member says. `text` registers the text that goes with the frame of an event (`show_content`), which depends on
the fact and the reader's language alone. `row` registers a row of the timeline, `ends` a fact that ends such a row. A
type checker compares the type of the fact with that of the function.

Kinds of rows, spans and weights are data: `make docs` writes them as a table for the web page.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from moot.core.envelope import describe_source
from moot.core.facts import Fact
from moot.core.session.attachments import Attachment
from moot.core.session.notices import tell_failure
from moot.core.session.state import State
from moot.core.session.team import Language
from moot.core.texts import find_text, render

# A summary of a session leaves out the steps; an outcome is the result of the work.
Weight = Literal["step", "landmark", "outcome"]
Category = Literal["input", "semantic", "routing", "flow", "steps", "dispatch", "errors"]  # of a row of the timeline
Outcome = Literal["", "ok", "failed", "cancelled", "expired", "superseded"]  # of a row; empty while it lasts
ANSWERED: dict[str, Outcome] = {"answered": "ok"}  # outcomes of facts that a row names differently
F = TypeVar("F", bound=Fact)
F_co = TypeVar("F_co", bound=Fact, covariant=True)
R = TypeVar("R", bound=str | None)


class Change(Struct, Generic[F_co], frozen=True):
    """A fact with the session before and after it. For the first fact, both are the session after it.

    `language` is the reader's. `is_whole` asks for results in full instead of their beginning.
    """

    fact: F_co
    before: State
    after: State
    language: Language
    is_whole: bool = False

    def say(self, code: str, **params: Any) -> str:
        """The text of a catalogue code in the reader's language."""
        return render(code, self.language, **params)

    def failure(self, error_type: str, message: str) -> str:
        return tell_failure(error_type, message, self.language)

    def name(self, member_id: str | None) -> str:
        """Return the display name of a member; "Moot" if there is none."""
        return self.after.team.member(member_id).display_name if member_id else "Moot"

    def place(self, member_id: str | None) -> str:
        """Return a member's name with its place in the system: `Nora (moot-orchestrator.planner)`; "Moot" for none."""
        if not member_id:
            return self.name(None)
        place = describe_source(self.after.team, member_id)
        return self.say("member_at", who=self.name(member_id), detail=place)


class Entry(Struct, Generic[F_co], frozen=True):
    """A fact in the timeline, with the session as it is now and the reader's language.

    `title` is that of the task that the fact is about, at the time of the fact; empty if it is about none.
    """

    fact: F_co
    state: State
    language: Language
    title: str = ""

    def say(self, key: str, **params: Any) -> str:
        """A text of the screens."""
        return render(f"ui.{key}", self.language, **params)

    def term(self, family: str, code: str) -> str:
        """The name of a code of the protocol, or the code itself if it has none."""
        return find_text(f"ui.{family}.{code}", self.language) or code

    def name(self, member_id: str) -> str:
        member = self.state.team.find(member_id)
        return member.display_name if member else member_id


class Message(Struct, frozen=True):
    """What a member says, to whom, and with which files; a message without text and files is not shown."""

    member: str
    text: str
    to: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


Tell = Callable[[Change[F]], list[str]]
Say = Callable[[F], Message]
Text = Callable[[F, Language], str | None]
Describe = Callable[[Entry[F]], str]


class Span(Struct, frozen=True):
    """Something that begins with one fact and ends with another, such as a turn.

    `field` is the field of the fact that has its id; `input.input_id` is a field of a field, `task.id` a key of one.
    """

    name: str
    field: str

    def key(self, fact: Fact) -> tuple[str, str]:
        """Return what the fact that begins it and the one that ends it have in common."""
        value: Any = fact
        for part in self.field.split("."):
            value = value[part] if isinstance(value, dict) else getattr(value, part)
        return self.name, value


class RowKind(Struct, frozen=True):
    """How a fact appears in the timeline.

    `begins`: what begins with the fact; the row lasts until a fact ends it. `is_shown`: the row says what is sent with
    the frame of the fact.
    """

    category: Category
    describe: Describe[Any]
    outcome: Outcome = ""
    begins: Span | None = None
    is_shown: bool = False


class RowEnd(Struct, frozen=True):
    """How a fact ends a row. `replaces`: from then on the row is about this fact.

    `outcome` is None if the fact has a field `outcome`, in which `answered` is a good one.
    """

    span: Span
    outcome: Outcome | None = "ok"
    replaces: bool = False

    def find_outcome(self, fact: Fact) -> Outcome:
        """Return how what began has ended."""
        if self.outcome is not None:
            return self.outcome
        outcome: Outcome = attrgetter("outcome")(fact)
        return ANSWERED.get(outcome, outcome)


class Lines:
    """The functions that tell one flow's facts.

    Args:
        bases: the functions to start with; a later registration of the same type replaces them.
        board: tells how far the session's work is; returns no lines if there is no work.
    """

    def __init__(self, *bases: "Lines", board: Callable[[State], list[str]] | None = None) -> None:
        self.texts: dict[type, Text[Any]] = {}
        self.messages: dict[type, Say[Any]] = {}
        self.said: dict[type, Say[Any]] = {}
        self.lines: dict[type, Tell[Any]] = {}
        self.ignored: set[type] = set()
        self.weights: dict[type, Weight] = {}
        self.rows: dict[type, RowKind] = {}
        self.row_ends: dict[type, RowEnd] = {}
        self.board = board or _no_board
        for base in bases:
            self._add(base)

    def _add(self, base: "Lines") -> None:
        self.texts |= base.texts
        self.messages |= base.messages
        self.said |= base.said
        self.lines |= base.lines
        self.ignored |= base.ignored
        self.weights |= base.weights
        self.rows |= base.rows
        self.row_ends |= base.row_ends

    def on(self, kind: type[F], weight: Weight = "step") -> Callable[[Tell[F]], Tell[F]]:
        """Register the lines of a fact. Lines of a result are indented by four spaces."""

        def register(tell: Tell[F]) -> Tell[F]:
            self.lines[kind] = tell
            self.weights[kind] = weight
            return tell

        return register

    def message(self, kind: type[F]) -> Callable[[Say[F]], Say[F]]:
        """Register what a member says with a fact."""

        def register(say: Say[F]) -> Say[F]:
            self.messages[kind] = say
            return say

        return register

    def says(self, *kinds: type[Fact]) -> Callable[[Say[Any]], Say[Any]]:
        """Register words that search finds in facts that are not messages: results, questions, titles."""

        def register(say: Say[Any]) -> Say[Any]:
            self.said.update(dict.fromkeys(kinds, say))
            return say

        return register

    def ignore(self, *kinds: type[Fact]) -> None:
        """Declare facts without lines, because another fact has the same content or people do not need them."""
        self.ignored.update(kinds)

    def text(self, kind: type[F]) -> Callable[[Callable[[F, Language], R]], Callable[[F, Language], R]]:
        """Register the text that goes with the frame of a fact; None where this fact has none."""

        def register(text: Callable[[F, Language], R]) -> Callable[[F, Language], R]:
            self.texts[kind] = text
            return text

        return register

    def row(
        self, kind: type[F], category: Category, outcome: Outcome = "", *, begins: Span | None = None
    ) -> Callable[[Describe[F]], Describe[F]]:
        """Register the row of a fact. The function returns the text beside the row's name."""
        _check_span(kind, begins)

        def register(describe: Describe[F]) -> Describe[F]:
            self.rows[kind] = RowKind(category, describe, outcome, begins)
            return describe

        return register

    def shown_row(self, kind: type[Fact], category: Category, outcome: Outcome = "") -> None:
        """Register a row with the text that goes with the frame of the fact, which is registered before."""
        text = self.texts[kind]
        self.rows[kind] = RowKind(
            category, lambda entry: text(entry.fact, entry.language) or "", outcome, is_shown=True
        )

    def ends(self, kind: type[Fact], span: Span, outcome: Outcome | None = "ok", *, replaces: bool = False) -> None:
        """Register a fact that ends the row of something that began."""
        _check_span(kind, span)
        self.row_ends[kind] = RowEnd(span, outcome, replaces)


def _check_span(kind: type[Fact], span: Span | None) -> None:
    if span and span.field.partition(".")[0] not in kind.__struct_fields__:
        raise TypeError(f"{kind.__name__} has no field {span.field}")


def _no_board(_state: State) -> list[str]:
    return []


def indent(prefix: str, text: str) -> list[str]:
    """Return the lines of `text`, with `prefix` before the first one and the others indented."""
    first, *rest = text.split("\n")
    margin = "    " if prefix.startswith(" ") else "  "
    return [f"{prefix}{first}", *(f"{margin}{line}" if line else "" for line in rest)]
