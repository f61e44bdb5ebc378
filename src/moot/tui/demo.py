"""A demo on the screen: a line on top says what to look at. The session is a real one: viewers may take part."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.events import Event, Key

from moot.tui.app import MootApp
from moot.tui.composer import Composer
from moot.tui.hosts import Host, Talk
from moot.tui.keys import Keys
from moot.tui.plain import Content, Line, plain_line
from moot.tui.story import Teller


class DemoApp(MootApp):
    """`play` directs the demo; `cut` breaks the link to the server."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+d", "cut", priority=True, show=False)]

    def __init__(
        self,
        host: Host,
        talk: Talk,
        make_teller: Callable[[], Teller],
        play: Callable[["DemoApp"], Coroutine[Any, Any, None]],
        cut: Callable[[], None],
        keys: Keys | None = None,
    ) -> None:
        super().__init__(host, talk, make_teller, keys=keys)
        self._play, self.cut = play, cut
        self._may_cut = False
        self._go_on = asyncio.Event()
        self._prepared = ""
        self._has_spoken = False

    def on_mount(self) -> None:
        self.direct()

    @work(group="demo")
    async def direct(self) -> None:
        await self._play(self)
        self._show(self.words("demo.over"), self.words("leave_with", pressed=self.keys.long("quit")))

    # what the director needs

    def show_caption(self, caption: str, *, may_cut: bool = False) -> None:
        """`may_cut`: D cuts the link, as long as nothing is typed; Ctrl+D always does."""
        self._may_cut = may_cut
        self._show(caption, self.words("demo.next", pressed="D" if may_cut else "Ctrl+D"))

    def _show(self, caption: str, hint: str) -> None:
        line = self.query_one("#caption", Line)
        line.display = True
        line.show(Content("\n").join([plain_line(f"» {caption}", "bold"), plain_line(f"  {hint}", "dim")]))

    def prepare(self, text: str) -> None:
        composer = self.query_one(Composer)
        if composer.text in ("", self._prepared):
            composer.put(text)
        self._prepared = text

    async def wait(self, seconds: float) -> bool:
        """Enter goes on; who has begun to write is waited for. Whether they have said something."""
        self._go_on.clear()
        self._has_spoken = False
        while True:
            try:
                async with asyncio.timeout(seconds):
                    await self._go_on.wait()
            except TimeoutError:
                if self.query_one(Composer).text not in ("", self._prepared):
                    continue
            return self._has_spoken

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self._has_spoken = bool(event.text.strip())
        self._go_on.set()

    async def on_event(self, event: Event) -> None:
        """D is a letter of whoever types; it cuts while it is offered and nothing is typed."""
        is_meant = self._may_cut and isinstance(event, Key) and event.key in ("d", "D")
        if is_meant and self.query_one(Composer).text in ("", self._prepared):
            self.action_cut()
        else:
            await super().on_event(event)

    def action_cut(self) -> None:
        self.cut()
        self._may_cut = False
        self._go_on.set()  # what happens next happens while nobody listens
