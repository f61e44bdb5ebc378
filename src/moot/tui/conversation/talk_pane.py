"""The pane in the middle: the conversation, the open question, and the composer."""

import asyncio
from datetime import UTC, datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive

from moot.core.machines.session import Status
from moot.core.session.commands import Answer
from moot.core.view import View
from moot.tui.composer.composer import Composer, Offers
from moot.tui.conversation.conversation import Conversation
from moot.tui.keys import Keys
from moot.tui.panes.top_lines import is_paused, name_escape
from moot.tui.questions.cards import Card
from moot.tui.questions.plan_edit import Tasks
from moot.tui.questions.plan_editor import PlanEditor
from moot.tui.remembered import Memory
from moot.tui.text.plain import Content, Line, plain_line
from moot.tui.viewer_state import ViewerState
from moot.tui.words import Words, default_words

NOTE_S = 3.0


class TalkPane(Vertical):
    """`version` counts the changes of the session as the viewer sees it; `now` ticks every second."""

    view: reactive[View] = reactive(View)
    version: reactive[int] = reactive(0)
    words: reactive[Words] = reactive(default_words)
    now: reactive[datetime] = reactive(datetime.fromtimestamp(0, UTC))

    class Answered(Message):
        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

    def __init__(self, keys: Keys, memory: Memory, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys, self._memory = keys, memory
        self._drafts: dict[str, Tasks] = {}  # edited plans that are not approved yet, by step
        self._asked: tuple[str, str] = ("", "")  # step and language of the card
        self._viewer_state = ViewerState()

    def compose(self) -> ComposeResult:
        yield Conversation(id="conversation")
        yield Line(id="below")
        yield Vertical(id="asked")
        yield Line(id="problem")
        yield Offers(id="offers")
        yield Composer(self._keys, self._memory, id="composer")
        yield Line(id="hint")

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    # painting

    def follow(self, viewer_state: ViewerState) -> None:
        """Show this session from now on."""
        self._viewer_state = viewer_state
        self.watch_version()

    def watch_version(self) -> None:
        if self.is_mounted:
            self.query_one(Conversation).show(self._viewer_state.story, self._viewer_state, self.words)
            self.composer.is_unaddressed = self._viewer_state.story.is_unaddressed
            self._paint_hint()

    def watch_words(self) -> None:
        self.composer.words = self.words
        self.watch_version()
        self.watch_view()

    def watch_view(self) -> None:
        view, composer = self.view, self.composer
        composer.view = view
        is_over = view.status is Status.COMPLETED
        if composer.disabled != is_over:
            composer.disabled = is_over
        self._paint_hint()
        self._paint_question(self.now)

    def watch_now(self, now: datetime) -> None:
        for card in self.query(Card):
            card.tick(self.view, now)

    def on_descendant_focus(self) -> None:
        self._paint_hint()

    def _paint_hint(self) -> None:
        self.query_one("#hint", Line).show(plain_line(self._hint(self.view)))

    def _hint(self, view: View) -> str:
        """Return the line below the composer: which keys are useful now."""
        words, keys = self.words, self._keys
        if view.status is Status.COMPLETED:
            return words("session_over")
        pressed = {action: keys.long(action) for action in ("send", "pause", "help")}
        if self.query(PlanEditor):
            return words("editor.hint")
        if self.query_one(Conversation).has_focus:
            return words("conversation.hint", copy=keys.long("copy"), open=keys.long("open"))
        if self.is_in_question:
            return words("card.hint")
        if self._viewer_state.story.is_unaddressed:
            ais = [member for member in view.members if not member.is_human]
            names = [f"Alt+{number} {member.display_name}" for number, member in enumerate(ais[:9], 1)]
            return words("composer.unaddressed", names=" · ".join(names))
        if view.questions:
            return words("composer.asked", question=keys.long("question"))
        if is_paused(view):
            return words("composer.paused", resume=keys.long("resume"))
        if escape := name_escape(view):
            busy = "composer.working" if view.is_steered else "composer.busy"
            name = view.name(view.running[0].member) if view.running else ""
            return words(busy, name=name, does=words(f"key.{escape}"), **pressed)
        return words("composer.hint", **pressed)

    def _paint_question(self, now: datetime) -> None:
        view = self.view
        question = view.questions[0] if view.questions else None
        asked = (question.step_id, view.language) if question else ("", "")
        if asked != self._asked:
            self._asked = asked
            self._replace(Card(question, view, self.words, self._keys, now) if question else None)
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

    def press_card(self, name: str) -> None:
        """Approve, edit or reject the plan that is asked about, wherever the focus is."""
        for card in self.query(Card):
            card.press(name)

    def focus_question(self) -> None:
        """Focus the first button or field of the card. A card never takes the focus by itself."""
        for widget in self.query("#asked Button, #asked Ticks, #asked Input"):
            if widget.focusable:
                widget.focus()
                return

    # plans

    def on_card_edit_asked(self, event: Card.EditAsked) -> None:
        question = event.question
        self._replace(PlanEditor(question, self.view, self.words, self._drafts.get(question.step_id)))

    def on_plan_editor_left(self) -> None:
        self.close_editor()

    def close_editor(self) -> bool:
        """Close the plan editor and keep its draft. Returns whether one was open."""
        editors = list(self.query(PlanEditor))
        for editor in editors:
            self._drafts[editor.question.step_id] = editor.tasks
        if editors:
            self._asked = ("", "")
            self._paint_question(self.now)
        return bool(editors)

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

    def go_to_end(self) -> None:
        self.query_one(Conversation).scroll_by_key("end")

    def on_composer_offered(self, event: Composer.Offered) -> None:
        self.query_one(Offers).offer(event.offers, event.active)

    def on_conversation_followed(self, event: Conversation.Followed) -> None:
        below, view = self.query_one("#below", Line), self.view
        below.display = event.unseen > 0 or bool(view.running and not event.is_following)
        if event.unseen:
            below.show(plain_line(self.words("new_below", count=event.unseen)))
        elif below.display:
            below.show(plain_line(self.words("written_below", name=view.name(view.running[0].member))))

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
