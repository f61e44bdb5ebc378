"""The teller: folds the facts of a session and renders each of them for a reader."""

from msgspec import Struct

from moot.core.evolve import evolve
from moot.core.fact_lines import Change, Weight, indent
from moot.core.facts import Fact
from moot.core.flows.registry import flow_of, show
from moot.core.session.state import State
from moot.core.session.team import Language


class Told(Struct, frozen=True, kw_only=True):
    """One fact as people read it.

    `state` is the session after the fact. `lines` are its lines in a transcript; none if the fact is not shown. For a
    message, `member` is the id of its author, `name` the author's display name, `to` the names of its addressees, and
    `text` the message. For any other fact `text` is the `show_content` of its frame, if it has one.
    """

    state: State
    lines: list[str]
    weight: Weight = "step"
    member: str = ""
    name: str = ""
    to: tuple[str, ...] = ()
    text: str = ""


class Teller:
    """Renders facts in the order of their log.

    Args:
        state: the session before the first fact; None if that one creates the session.
        language: of the reader; None for the language of the session, which may change on the way.
        is_whole: whether results of tasks are shown in full.
    """

    def __init__(self, state: State | None = None, *, language: Language | None = None, is_whole: bool = False) -> None:
        self.state = state
        self._language = language
        self._is_whole = is_whole

    def tell(self, fact: Fact) -> Told:
        """Fold the next fact and render it."""
        before = self.state
        self.state = after = evolve(before, fact)
        kind, flow = type(fact), flow_of(after).lines
        if say := flow.messages.get(kind):
            message = say(fact)
            name, *to = [after.team.member(each).display_name for each in (message.member, *message.to)]
            author = f"{name} → {', '.join(to)}" if to else name
            files = [f"📎 {file.tell()}" for file in message.attachments]
            text = "\n".join([message.text, *files] if message.text else files)
            lines = indent(f"{author}: ", text) if text else []
            return Told(state=after, lines=lines, member=message.member, name=name, to=tuple(to), text=text)
        if tell := flow.lines.get(kind):
            language = self._language or after.language
            change = Change(fact, before or after, after, language, self._is_whole)
            return Told(state=after, lines=tell(change), weight=flow.weights[kind], text=show(fact, language) or "")
        return Told(state=after, lines=[])

    def lines(self, fact: Fact) -> list[str]:
        """Fold the next fact and return its lines of a transcript."""
        return self.tell(fact).lines
