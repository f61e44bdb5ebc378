"""The terminal UI of the demo: a caption explains what happens. The session is real: viewers can take part."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from moot.tui.composer.composer import Composer
from moot.tui.hosts import Host, Talk
from moot.tui.keys import Keys
from moot.tui.terminal import MootApp
from moot.tui.text.plain import Content, Line, plain_line
from moot.tui.words import Words


class DemoApp(MootApp):
    """`play` runs the demo and controls this screen; `cut` closes the connection to the server."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+d", "cut", priority=True, show=False)]

    def __init__(
        self,
        host: Host,
        talk: Talk,
        play: Callable[["DemoApp"], Coroutine[Any, Any, None]],
        cut: Callable[[], None],
        keys: Keys | None = None,
    ) -> None:
        super().__init__(host, talk, keys=keys)
        self._play, self.cut = play, cut
        self._tell: Callable[[Words], tuple[str, str]] | None = None  # the caption, and what keys do now
        self._go_on = asyncio.Event()
        self._prepared = ""
        self._has_spoken = False

    def on_mount(self) -> None:
        self.direct()

    @work(group="demo")
    async def direct(self) -> None:
        await self._play(self)
        self._show(lambda words: (words("demo.over"), words("leave_with", pressed=self.keys.long("quit"))))

    # called by `play`

    def show_caption(self, caption: str) -> None:
        self._show(lambda words: (caption, words("demo.next")))

    def watch_words(self) -> None:
        """Tell the first caption again: it comes before the language of the session is known."""
        super().watch_words()
        if self._tell:
            self._show(self._tell)

    def _show(self, tell: Callable[[Words], tuple[str, str]]) -> None:
        self._tell = tell
        caption, hint = tell(self.words)
        line = self.query_one("#caption", Line)
        line.display = True
        line.show(Content("\n").join([plain_line(f"» {caption}", "bold"), plain_line(f"  {hint}", "dim")]))

    def prepare(self, text: str) -> None:
        """Put a suggested message into the composer, unless the viewer has typed something."""
        composer = self.query_one(Composer)
        if composer.text in ("", self._prepared):
            composer.put(text)
        self._prepared = text

    async def wait(self, seconds: float) -> bool:
        """Wait until Enter is pressed or `seconds` pass; a viewer who is typing gets more time.

        Returns whether the viewer sent a message.
        """
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

    def action_cut(self) -> None:
        self.cut()
        self._go_on.set()  # the demo goes on while this screen is disconnected
