"""What the work changed: the files, the diff of one of them, and comments on its lines."""

from collections.abc import Callable
from typing import ClassVar, Protocol

from msgspec import Struct
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input

from moot.core.errors import MootError, Refused
from moot.core.session.commands import HumanCommand, Post
from moot.core.session.notices import explain
from moot.core.session.workspace import FileChange, LineComment
from moot.core.session.workspace_commands import Comment
from moot.core.session.workspace_lines import count_lines
from moot.core.session.workspace_view import Changes, FileDiff
from moot.tui.screens.diff_lines import DiffLines
from moot.tui.text.diff_rows import quote_rows, read_rows
from moot.tui.text.plain import Content, Entries, Line, plain_line
from moot.tui.words import Words

NARROW = 100  # columns: below it the files stand above the diff
SIGNS = {"added": "+", "deleted": "−", "renamed": "→", "modified": "✎"}


class Part(Struct, frozen=True, kw_only=True):
    """What is shown: all of the work, what one task or what one turn changed."""

    task: str | None = None
    turn: str | None = None


class Reader(Protocol):
    """Where changes are read."""

    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes: ...

    async def diff(
        self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0
    ) -> FileDiff: ...


class DiffScreen(ModalScreen[None]):
    """Reads files and diffs as they are asked for. A comment is kept in the session until all are sent together."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("left", "go_left", show=False),
        Binding("right", "go_right", show=False),
        Binding("v", "split", show=False),
        Binding("c", "comment", show=False),
        Binding("s", "send", show=False),
    ]

    def __init__(
        self,
        reader: Reader,
        send: Callable[[HumanCommand], object],
        part: Part,
        words: Words,
        comments: tuple[LineComment, ...] = (),
    ) -> None:
        """`send` is given comments to keep, and the message that sends all of them."""
        super().__init__()
        self._reader, self._send, self._part, self._words = reader, send, part, words
        self._comments = comments
        self._changes: Changes | None = None
        self._files: list[FileChange] = []
        self._path, self._text = "", ""
        self._next: int | None = None  # where the rest of the diff starts
        self._wanted: tuple[int, int] | None = None  # the rows that a comment is written about

    def compose(self) -> ComposeResult:
        with Vertical(id="diff"):
            yield Line(id="diff-title")
            with Horizontal(id="diff-panes"):
                yield Entries(id="diff-files")
                yield DiffLines(id="diff-lines")
            yield Input(id="diff-comment")
            yield Line(id="diff-hint")

    def on_mount(self) -> None:
        self.query_one("#diff-comment").display = False
        self.query_one(Entries).focus()
        self._tell()
        self.read_files()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "narrow")

    def take_comments(self, comments: tuple[LineComment, ...]) -> None:
        """Show which lines have comments that are kept."""
        if comments != self._comments:
            self._comments = comments
            self.query_one(DiffLines).mark_commented(self._commented())
            self._tell()

    # reading

    @work(exclusive=True, group="files")
    async def read_files(self) -> None:
        """Read the next page of files; the first one is shown at once."""
        try:
            offset = len(self._files)
            page = await self._reader.changes(task=self._part.task, turn=self._part.turn, offset=offset)
        except MootError as error:
            self._complain(error)
            return
        self._changes = page
        self._files += page.files
        entries = self.query_one(Entries)
        width = max(entries.size.width - 2, 20)
        rows = [(file.path, _describe(file, width)) for file in self._files]
        if page.next_offset is not None:
            rows.append(("", plain_line(f"… +{page.total - len(self._files)}", "dim")))
        entries.show(rows)
        self._tell()
        if self._files and not offset:
            entries.highlighted = 0

    @work(exclusive=True, group="diff")
    async def read_diff(self, path: str, offset: int = 0) -> None:
        try:
            page = await self._reader.diff(path, task=self._part.task, turn=self._part.turn, offset=offset)
        except MootError as error:
            self._complain(error)
            return
        self._text = self._text + page.text if offset else page.text
        self._path, self._next = path, page.next_offset
        rows = read_rows(self._text)
        if page.next_offset is not None and not self._text.endswith("\n"):
            rows = rows[:-1]  # half a line
        self.query_one(DiffLines).show(rows, path, self._commented(), is_more=bool(offset))
        self._tell()

    def on_option_list_option_highlighted(self, event: Entries.OptionHighlighted) -> None:
        event.stop()
        path = self.query_one(Entries).find_key(event.option_index)
        if path:
            self.read_diff(path)
        elif path is not None:
            self.read_files()

    def on_option_list_option_selected(self, event: Entries.OptionSelected) -> None:
        event.stop()
        self.action_go_right()

    def on_diff_lines_reached_end(self) -> None:
        if self._next is not None:
            self.read_diff(self._path, self._next)

    # keys

    def action_go_left(self) -> None:
        self.query_one(Entries).focus()

    def action_go_right(self) -> None:
        self.query_one(DiffLines).focus()

    def action_split(self) -> None:
        self.query_one(DiffLines).toggle_split()

    def action_comment(self) -> None:
        """Ask for a comment on the chosen lines."""
        self._wanted = self.query_one(DiffLines).chosen
        if self._wanted and self._path:
            (first, last), _ = quote_rows(self.query_one(DiffLines).rows, *self._wanted)
            field = self.query_one("#diff-comment", Input)
            place = f"{self._path}:{first}" + (f"–{last}" if last != first else "")
            field.placeholder = self._words("diff.comment_on", place=place)
            field.value, field.display = "", True
            field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() and self._wanted and self._changes:
            lines, hunk = quote_rows(self.query_one(DiffLines).rows, *self._wanted)
            comment = Comment(
                commit=self._changes.commit, path=self._path, lines=lines, text=event.value, hunk=hunk, is_last=False
            )
            self._send(comment)
        self._close_field()

    def action_send(self) -> None:
        if self._comments:
            self._send(Post(text="/comment send"))

    def action_leave(self) -> None:
        if self.query_one("#diff-comment").display:
            self._close_field()
        else:
            self.dismiss(None)

    def _close_field(self) -> None:
        self.query_one("#diff-comment").display = False
        self.query_one(DiffLines).focus()

    # telling

    def complain(self, sentence: str) -> None:
        self.query_one("#diff-hint", Line).show(plain_line(sentence, "bold yellow"))

    def _complain(self, error: MootError) -> None:
        self.complain(explain(error, self._words.language) if isinstance(error, Refused) else str(error))

    def _commented(self) -> frozenset[int]:
        kept = [comment.lines for comment in self._comments if comment.path == self._path]
        return frozenset(number for first, last in kept for number in range(first, min(last, first + 1_000) + 1))

    def _tell(self) -> None:
        words, changes = self._words, self._changes
        whose = self._part.task or self._part.turn
        name = words("diff.of", name=whose) if whose else words("diff.whole")
        counts = ""
        if changes and not changes.total:
            counts = "  " + words("diff.none")
        elif changes:
            counts = "  " + words("diff.counts", count=changes.total, added=changes.added, removed=changes.removed)
        title = Content.assemble(plain_line(name, "bold"), plain_line(f"{counts}  {self._path}", "dim"))
        self.query_one("#diff-title", Line).show(title)
        hint = words("diff.hint")
        if self._comments:
            hint = f"{words('diff.kept', count=len(self._comments))} · {hint}"
        self.query_one("#diff-hint", Line).show(plain_line(hint, "dim"))


def _describe(file: FileChange, width: int) -> Content:
    """`✎ src/app.py +12 −3`; of a long path the end is shown."""
    counts = count_lines(file) or "∎"
    room = max(width - len(counts) - 3, 10)
    path = file.path if len(file.path) <= room else f"…{file.path[-room + 1 :]}"
    style = {"added": "green", "deleted": "red"}.get(file.status, "")
    return Content.assemble(
        plain_line(f"{SIGNS[file.status]} ", style), plain_line(path), plain_line(f" {counts}", "dim")
    )
