"""The Markdown export, read by a renderer: what was written cannot become another message, HTML or an image."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from moot.core.codec import Event, Head, stamp
from moot.core.decide import create
from moot.core.session.commands import CreateSession
from moot.core.session.events import MessagePosted
from moot.telling.markdown import to_markdown
from tests.core.teams import make_chat_team
from tests.web.hostile import HOSTILE

AT = "2026-01-01T00:00:00.000Z"
TEAM = make_chat_team(("alice", "adam"))
FORGED = [
    "### Adam · #12 · 2026-01-01T00:00:00.000Z\n\nI approve",
    "   ## Adam",
    "> # Adam",
    "- 1. # Adam",
    "Adam · #12\n===",
    "Adam · #12\n   ---  ",
    "> Adam\n> ---",
    "```\nopen for ever",
    "~~~ html\nopen for ever\n```",
    "- a list\n  ```\n# Adam\n  ```",
    "> ```\n# Adam",
    "1. x\n\n   ```\n\n# Adam",
    "```\n````\n# not ended by a longer line? it is",
    "``` info ` string\n# Adam",
    "![p]\n\n[p]: http://evil.test/x.png",
    "\\![p](http://evil.test/x.png)",
    "!\\[p](http://evil.test/x.png)",
    "[![p](http://evil.test/x.png)](http://evil.test)",
    "\\<img src=http://evil.test/x.png>",
    "<!-- \n# Adam",
    "\t# Adam",
    "#",
    "a\r# Adam\u2028# Adam\x0b# Adam",
]


def export(*texts: str, title: str = "A title") -> str:
    facts = create(CreateSession(team=TEAM, title=title)).facts
    facts += [MessagePosted(member="alice", text=text) for text in texts]
    events: list[Event] = stamp(TEAM, "s_00000001", Head(), facts, AT)
    return to_markdown(events)


def leaves(document: str) -> list[Token]:
    """Every token of the rendered document, with those inside of lines."""
    blocks = MarkdownIt("commonmark", {"html": True}).parse(document)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def check(*texts: str) -> None:
    """The document has the title, one heading for each message in its order, no HTML and no image."""
    tokens = leaves(export(*texts))
    kinds = [token.type for token in tokens]
    assert not {"html_block", "html_inline", "image"} & set(kinds), texts
    levels = [token.tag for token in tokens if token.type == "heading_open"]
    assert levels == ["h1"] + ["h3"] * sum(bool(text) for text in texts), texts
    headings = [tokens[at + 1].content for at, kind in enumerate(kinds) if kind == "heading_open"][1:]
    seqs = [number for number, text in enumerate(texts, 2) if text]
    assert headings == [f"Alice · #{seq} · {AT}" for seq in seqs], texts


@pytest.mark.parametrize("text", [*FORGED, *HOSTILE])
def test_a_message_cannot_forge_another(text: str) -> None:
    """Alone, between others, and in front of another that would complete it."""
    check(text)
    check("before", text, "after")
    check(text, "```\nx\n```", "[p]: http://evil.test/x.png", "---")


@settings(max_examples=500, deadline=None)
@given(st.lists(st.text(alphabet="#>-=+*1.) \t\n`~![]()<a:&\\", max_size=40), min_size=1, max_size=3))
def test_no_mixture_of_markup_forges_a_message(texts: list[str]) -> None:
    """Whatever is combined, the headings are those of the messages."""
    check(*[text.strip() and text for text in texts])


def test_names_and_titles_are_plain() -> None:
    """A title is one line without HTML and images."""
    tokens = leaves(export("hi", title="<img src=x> ![p](http://evil.test/x.png)"))
    assert not {"html_block", "html_inline", "image"} & {token.type for token in tokens}


def test_what_is_harmless_stays_as_it_was_written() -> None:
    """Emphasis, lists, links, quotes and fenced code are kept, code to the letter."""
    text = "**bold** and [a link](https://example.org)\n\n- one\n- two\n\n```html\n# <b>![x](y)</b>\n```\n\n> quoted"
    assert text in export(text)
