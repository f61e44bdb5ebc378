"""The pane in the middle: the conversation, the open question, and the composer."""

import asyncio
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from moot.core.machines.session import Status
from moot.core.session.commands import Answer
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.view import View
from moot.tui.cards import Card
from moot.tui.composer import Composer, Offers
from moot.tui.conversation import Conversation
from moot.tui.keys import Keys
from moot.tui.plain import Content, Line, plain_line
from moot.tui.plan_edit import Tasks
from moot.tui.plan_editor import PlanEditor
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words

NOTE_S = 3.0


class TalkPane(Vertical):
    class Answered(Message):
        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    def __init__(self, keys: Keys, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keys
        self._drafts: dict[str, Tasks] = {}  # edited plans that are not approved yet, by step
        self._asked: tuple[str, str] = ("", "")  # step and language of the card
        self._viewer_state: ViewerState | None = None
        self._words = Words(DEFAULT_LANGUAGE)

    def compose(self) -> ComposeResult:
        yield Conversation(id="conversation")
        yield Line(id="below")
        yield Vertical(id="asked")
        yield Line(id="problem")
        yield Offers(id="offers")
        yield Composer(self._keys, id="composer")
        yield Line(id="hint")

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    # painting

    def paint(self, viewer_state: ViewerState, words: Words, now: datetime) -> None:
        self._viewer_state, self._words = viewer_state, words
        view, story, composer = viewer_state.view, viewer_state.story, self.composer
        self.query_one(Conversation).show(story, viewer_state, words)
        composer.view, composer.words = view, words
        composer.is_unaddressed = story.is_unaddressed
        is_over = view.status is Status.COMPLETED
        if composer.disabled != is_over:
            composer.disabled = is_over
        self.query_one("#hint", Line).show(plain_line(self._hint(view)))
        self._paint_question(now)

    def _hint(self, view: View) -> str:
        """Return the line below the composer: which keys are useful now."""
        if view.status is Status.COMPLETED:
            return self._words("session_over")
        story = self._viewer_state.story if self._viewer_state else None
        pressed = {action: self._keys.long(action) for action in ("send", "pause", "help")}
        if self.query(PlanEditor):
            return self._words("editor.hint")
        if self.query_one(Conversation).has_focus:
            return self._words("conversation.hint", copy=self._keys.long("copy"), open=self._keys.long("open"))
        if story and story.is_unaddressed:
            ais = [member for member in view.members if not member.is_human]
            names = [f"Alt+{number} {member.display_name}" for number, member in enumerate(ais[:9], 1)]
            return self._words("composer.unaddressed", names=" · ".join(names))
        if view.running:
            return self._words("composer.busy", name=view.name(view.running[0].member), **pressed)
        return self._words("composer.hint", **pressed)

    def _paint_question(self, now: datetime) -> None:
        assert self._viewer_state is not None  # noqa: S101 - painted before
        view = self._viewer_state.view
        question = view.questions[0] if view.questions else None
        asked = (question.step_id, view.language) if question else ("", "")
        if asked != self._asked:
            self._asked = asked
            self._replace(Card(question, view, self._words, self._keys, now) if question else None)
        elif question:
            for card in self.query(Card):
                card.tick(view, now)

    def _replace(self, shown: Card | PlanEditor | None) -> None:
        area = self.query_one("#asked")
        self.screen.set_class(isinstance(shown, PlanEditor), "editing")  # it covers the side panes
        had_focus = area.has_focus_within
        area.remove_children()
        if shown:
            area.mount(shown)
        if had_focus:
            self.composer.focus()

    @property
    def is_in_question(self) -> bool:
        """Whether the card of the open question has the focus."""
        return self.query_one("#asked").has_focus_within

    def focus_question(self) -> None:
        """Focus the first button or field of the card. A card never takes the focus by itself."""
        for widget in self.query("#asked Button, #asked Ticks, #asked Input"):
            if widget.focusable:
                widget.focus()
                return

    # plans

    def on_card_edit_asked(self, event: Card.EditAsked) -> None:
        question = event.question
        assert self._viewer_state is not None  # noqa: S101 - painted before
        self._replace(PlanEditor(question, self._viewer_state.view, self._words, self._drafts.get(question.step_id)))

    def on_plan_editor_left(self) -> None:
        self.close_editor()

    def close_editor(self) -> bool:
        """Close the plan editor and keep its draft. Returns whether one was open."""
        editors = list(self.query(PlanEditor))
        for editor in editors:
            self._drafts[editor.question.step_id] = editor.tasks
        self._asked = ("", "") if editors else self._asked
        if editors:
            self._replace(None)
            self.post_message(self.Repaint())
        return bool(editors)

    class Repaint(Message):
        """The screen must be painted again."""

    def on_card_answered(self, event: Card.Answered) -> None:
        self.post_message(self.Answered(event.answer))

    def on_plan_editor_approved(self, event: PlanEditor.Approved) -> None:
        self.post_message(self.Answered(event.answer))

    def refuse_answer(self, sentence: str) -> None:
        for card in self.query(Card):
            card.refuse(sentence)
        for editor in self.query(PlanEditor):
            editor.refuse(sentence)

    # writing

    def on_composer_scrolled(self, event: Composer.Scrolled) -> None:
        self.query_one(Conversation).scroll_by_key(event.key)

    def on_composer_offered(self, event: Composer.Offered) -> None:
        self.query_one(Offers).offer(event.offers, event.active)

    def on_conversation_followed(self, event: Conversation.Followed) -> None:
        below, view = self.query_one("#below", Line), self._viewer_state.view if self._viewer_state else View()
        below.display = event.unseen > 0 or bool(view.running and not event.is_following)
        if event.unseen:
            below.show(plain_line(self._words("new_below", count=event.unseen)))
        elif below.display:
            below.show(plain_line(self._words("written_below", name=view.name(view.running[0].member))))

    def tell(self, sentence: str) -> None:
        """Show a short note for a few seconds."""
        content = plain_line(sentence, "bold green")
        self._note(content)
        asyncio.get_running_loop().call_later(NOTE_S, self.call_later, self._forget, content)

    def _forget(self, content: Content) -> None:
        if self.query_one("#problem", Line).text == content.plain:
            self._note(Content(""))

    def _note(self, content: Content) -> None:
        problem = self.query_one("#problem", Line)
        problem.display = bool(content.plain)
        problem.show(content)

    def complain(self, sentence: str, text: str = "") -> None:
        """Show why a command was refused. Its text goes back into the composer if that is empty."""
        self._note(plain_line(sentence, "bold"))
        if text and not self.composer.text.strip():
            self.composer.put(text)
