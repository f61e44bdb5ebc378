"""What a session is called: one line of plain text. Who may speak in it may change it, also when it is over."""

from moot.core import limits, text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import SessionRenamed
from moot.core.team import Member


def rename(draft: Draft, wanted: str, by: Member | None) -> None:
    title = _check(wanted.strip())
    if title != draft.state.title:
        draft.add(SessionRenamed(title=title, member=by.id if by else None))


def _check(title: str) -> str:
    if text.is_blank(title):
        raise Refused("title_empty")
    if len(title) > limits.TITLE_CHARS:
        raise Refused("title_too_long", length=len(title), limit=limits.TITLE_CHARS)
    if text.clean(title) != title or "\n" in title or "\t" in title:
        raise Refused("title_not_plain")
    return title
