"""Reading markers out of messages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core import limits
from moot.core.intake.markers import DROP_ALL, Markers, Priority, Target, parse

P1, P2, P3 = Priority.P1, Priority.P2, Priority.P3


def names(text: str) -> list[str]:
    return [target.name for target in parse(text).next]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[NEXT: bob]", ["bob"]),
        ("[NEXT:bob]", ["bob"]),
        ("[next:bob]", ["bob"]),
        ("[nExT: bob]", ["bob"]),
        ("[NEXT:bob,carol]", ["bob", "carol"]),
        ("[NEXT: bob ,  carol ]", ["bob", "carol"]),
        ("[NEXT: bob，carol、dave]", ["bob", "carol", "dave"]),
        ("[NEXT：bob]", ["bob"]),
        ("[NEXT:bob] and [NEXT:carol]", ["bob", "carol"]),
        ("[NEXT:bob][NEXT:carol]", ["bob", "carol"]),
        ("[NEXT:bob,,carol, ,]", ["bob", "carol"]),
        ("[NEXT:]", []),
        ("[NEXT: ， 、 , ]", []),
        ("[NEXT: @bob]", ["bob"]),
        ("[NEXT: **bob**]", ["bob"]),
        ("[NEXT: @**bob**, **@carol**]", ["bob", "carol"]),
        ("[NEXT: bob, bob]", ["bob", "bob"]),
        ("[NEXT: Zhang San]", ["Zhang San"]),
        ("[NEXT: 张三、李四]", ["张三", "李四"]),
        ("[NEXT: bob:dev]", ["bob:dev"]),
        ("[NEXT: bob,\n carol]", ["bob", "carol"]),
    ],
)
def test_next_lists_names_as_written(text: str, expected: list[str]) -> None:
    """Any letter case, `,` `，` `、` and `：`, also over two lines; trimmed, without blanks, `@` and `**`."""
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[NEXT :bob]",
        "[ NEXT:bob]",
        "[NEXT:bob",
        "NEXT:bob]",
        "【NEXT:bob】",
        "[NEXT bob]",
        "[NEXTS:bob]",
        "[XNEXT:bob]",
        "(NEXT:bob)",
        "[NEXT:bob\n\n]",
        "[ＮＥＸＴ:bob]",  # full-width letters
        "[NЕXT:bob]",  # a Cyrillic letter
        "[TEAM_TAſK: x]",  # a long s, which case folding turns into an s
        "[DONE :]",
        "[ DONE]",
        "[DROP :bob]",
        "\\[NEXT\\:bob\\]",
    ],
)
def test_what_only_looks_like_a_marker_is_text(text: str) -> None:
    """Unclosed, spaced, other brackets and homoglyphs route nothing and stay in the text."""
    assert parse(text) == Markers(clean=text)


@pytest.mark.parametrize(
    ("part", "target"),
    [
        ("bob", Target("bob", P2)),
        ("bob!P1", Target("bob", P1)),
        ("bob!P2", Target("bob", P2)),
        ("bob!P3", Target("bob", P3)),
        ("bob!p3", Target("bob", P3)),
        ("bob   !P1", Target("bob", P1)),
        ("bob!P1   ", Target("bob", P1)),
        ("@bob!P1", Target("bob", P1)),
        ("**bob**!P1", Target("bob", P1)),
        ("**bob!P1**", Target("bob", P1)),
        ("bob!P4", Target("bob!P4", P2)),
        ("bob!P11", Target("bob!P11", P2)),
        ("bob! P1", Target("bob! P1", P2)),
        ("bob!", Target("bob!", P2)),
        ("bob!urgent", Target("bob!urgent", P2)),
        ("bob!P1!P3", Target("bob!P1", P3)),
    ],
)
def test_a_priority_follows_the_name(part: str, target: Target) -> None:
    """`!P1` to `!P3`, any case, spaces before `!`; any other `!x` is part of the name."""
    assert parse(f"[NEXT: {part}]").next == (target,)


def test_each_name_has_its_own_priority() -> None:
    """A priority belongs to one name, not to the list."""
    assert parse("[NEXT: a!P3, b, c!P1]").next == (Target("a", P3), Target("b", P2), Target("c", P1))


@pytest.mark.parametrize(
    ("text", "done", "clean"),
    [
        ("[DONE]", True, ""),
        ("thanks [done]", True, "thanks "),
        ("[DONE] [NEXT: bob]", True, " "),
        ("[DONE: now]", False, "[DONE: now]"),
        ("DONE", False, "DONE"),
    ],
)
def test_done(text: str, done: bool, clean: str) -> None:
    """`[DONE]` is a marker and leaves the text."""
    assert (parse(text).done, parse(text).clean) == (done, clean)


@pytest.mark.parametrize(
    ("text", "sender"),
    [
        ("[FROM: alice] hi", "alice"),
        ("[from：@alice] hi", "alice"),
        ("[FROM: alice] and [FROM: adam]", "alice"),
        ("hi [FROM: **alice**]", "alice"),
        ("[FROM:] hi", None),
        ("[FROM alice] hi", None),
    ],
)
def test_the_first_from_names_the_speaker_and_stays_in_the_text(text: str, sender: str | None) -> None:
    """The first `[FROM:]` counts; only NEXT, DONE and DROP leave the text."""
    assert (parse(text).sender, parse(text).clean) == (sender, text)


@pytest.mark.parametrize(
    ("text", "team_task"),
    [
        ("[TEAM_TASK: ship it]", "ship it"),
        ("[team_task：ship it]", "ship it"),
        ("[TEAM_TASK: one] [TEAM_TASK: two]", "two"),
        ("[TEAM_TASK: one] [TEAM_TASK: ]", "one"),
        ("[TEAM_TASK: fix [bug 7] today]", "fix [bug 7] today"),
        ("[TEAM_TASK: two\nlines]", "two\nlines"),
        ("[TEAM_TASK ship it]", None),
    ],
)
def test_the_last_team_task_sets_the_goal_and_stays_in_the_text(text: str, team_task: str | None) -> None:
    """The last `[TEAM_TASK:]` counts; only NEXT, DONE and DROP leave the text."""
    assert (parse(text).team_task, parse(text).clean) == (team_task, text)


@pytest.mark.parametrize(
    ("text", "drop"),
    [
        ("[DROP: bob]", ("bob",)),
        ("[drop：bob，carol]", ("bob", "carol")),
        ("[DROP: bob!P1, @carol]", ("bob", "carol")),
        ("[DROP: ALL]", DROP_ALL),
        ("[DROP: all]", DROP_ALL),
        ("[DROP: bob, All, carol]", DROP_ALL),
        ("[DROP: bob][DROP: carol]", ("bob", "carol")),
        ("[DROP: bob][DROP: all]", DROP_ALL),
        ("[DROP:]", ()),
        ("[DROP: , ]", ()),
    ],
)
def test_drop(text: str, drop: tuple[str, ...]) -> None:
    """Priorities in DROP are ignored, any `all` is exactly ["ALL"], empty is []; it leaves the text."""
    assert (parse(text).drop, parse(text).clean) == (drop, "")


@pytest.mark.parametrize(
    "text",
    [
        "```\n[NEXT: bob]\n```",
        "```python\n[NEXT: bob]\n```\n",
        "~~~\n[NEXT: bob]\n~~~",
        "````\n```\n[NEXT: bob]\n````",
        "~~~\n```\n[NEXT: bob]\n~~~",
        "```\n[NEXT: bob]",  # never closed
        "```\n~~~\n[NEXT: bob]\n",
        "```\n``` not the end\n[NEXT: bob]\n```",
        "   ```\n[NEXT: bob]\n   ```",
        "text\r\n```\r\n[NEXT: bob]\r\n```\r\n",
        "```\n[DONE] [DROP: ALL] [FROM: x] [TEAM_TASK: y]\n```",
        "> [NEXT: bob]",
        "  > carol said [NEXT: bob]",
        ">> [DONE]",
    ],
)
def test_markers_in_code_blocks_and_quotes_are_text(text: str) -> None:
    """Fenced code (also never closed) and quoted lines route nothing and are handed on as they are."""
    assert parse(text) == Markers(clean=text)


@pytest.mark.parametrize(
    "text",
    [
        "`[NEXT: bob]`",
        "``[NEXT: bob]``",
        "```[NEXT: bob]```",  # a fence has no backtick behind it: this is inline code
        "    [NEXT: bob]",
        "    ```\n[NEXT: bob]",  # four spaces are no fence
        "a > b [NEXT: bob]",
        "```\ncode\n```\n[NEXT: bob]",
        "> quoted\n[NEXT: bob]",
        "```\ncode\n`````\n[NEXT: bob]",
    ],
)
def test_markers_elsewhere_count(text: str) -> None:
    """The same marker in inline code, or behind a block that has ended, counts."""
    assert names(text) == ["bob"]
    assert "NEXT" not in parse(text).clean


def test_a_nested_marker_is_read_from_the_inside() -> None:
    """`[NEXT:[NEXT:a]]` names a; what is left is text and is not read again."""
    assert parse("[NEXT:[NEXT:a]]") == Markers(clean="[NEXT:]", next=(Target("a"),))


def test_the_rest_of_the_text_is_unchanged() -> None:
    """Code keeps its indentation, blank lines and trailing spaces."""
    text = "first  \n\n\tdef f():\n\n        return 1  \r\n\n[NEXT: bob]\n  \n"
    assert parse(text).clean == "first  \n\n\tdef f():\n\n        return 1  \r\n\n\n  \n"


@settings(max_examples=200)
@given(st.text(st.characters(exclude_characters="[")))
def test_text_without_a_bracket_is_unchanged(text: str) -> None:
    """Without `[` there is no marker."""
    assert parse(text) == Markers(clean=text)


SNIPPETS = st.sampled_from(
    ["[NEXT: bob]", "[DONE]", "[DROP: a]", "[FROM: a]", "[TEAM_TASK: g]", "[NEXT:", "]", "[", "```\n", "\n", "> ", "`"]
)


@settings(max_examples=300)
@given(st.lists(SNIPPETS | st.text(max_size=6), max_size=12).map("".join))
def test_removing_markers_changes_no_other_character(text: str) -> None:
    """What is shown is what was said with whole NEXT, DONE and DROP markers cut out."""
    clean, removed = parse(text).clean, ("[NEXT: bob]", "[DONE]", "[DROP: a]")

    def is_reachable(said: str, shown: str) -> bool:
        while said:
            marker = next((marker for marker in removed if said.startswith(marker)), None)
            if marker and is_reachable(said[len(marker) :], shown):
                return True
            if not shown.startswith(said[0]):
                return False
            said, shown = said[1:], shown[1:]
        return not shown

    if text.count("[NEXT:") == text.count("[NEXT: bob]"):  # no list that runs on into what follows
        assert is_reachable(text, clean)
    assert len(clean) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "[NEXT: a" + " " * limits.MESSAGE_CHARS + "b]",
        "[NEXT: " + "@" * limits.MESSAGE_CHARS + "b]",
        "[NEXT: " + "**" * limits.MESSAGE_CHARS + "b]",
        "[NEXT: " + " !P1" * (limits.MESSAGE_CHARS // 4) + "]",
        "[NEXT:" * (limits.MESSAGE_CHARS // 6),
        "[TEAM_TASK:" * (limits.MESSAGE_CHARS // 11),
        "[TEAM_TASK:" + "[a]" * (limits.MESSAGE_CHARS // 3),
        "```\n" * (limits.MESSAGE_CHARS // 4) + "[",
        "`" * limits.MESSAGE_CHARS + "[",
        "[" * limits.MESSAGE_CHARS,
    ],
)
def test_a_hostile_text_of_the_largest_size_is_read(text: str) -> None:
    """Reading takes time in proportion to the size; a quadratic reader would not come back from these."""
    assert len(parse(text).clean) <= len(text)


def test_ten_thousand_targets_are_all_seen() -> None:
    """The reader lists what was written; the cap of ten is the router's, which names the rest as skipped."""
    assert len(parse("[NEXT: " + "bob," * 10_000 + "]").next) == 10_000
