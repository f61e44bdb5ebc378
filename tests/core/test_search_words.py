"""How text is cut into words for an index, and what a query finds."""

import pytest

from moot.core.search_words import cut, matches, read_query, show_found

FOUND = [
    ("wet feet", "He had wet feet."),
    ("FEET wet", "He had wet feet."),
    ("fee", "He had wet feet."),
    ("cafe", "au Café"),
    ("café", "au CAFE"),
    ("ｆｕｌｌ", "full width"),
    ("海报", "请做一张春季海报。"),
    ("春季海报", "请做一张春季海报。"),
    ("张春", "请做一张春季海报。"),
    ("报", "请做一张春季海报。"),
    ("海", "请做一张春季海报。"),
    ("GPT 模型", "用gpt模型来写"),
    ("gpt模型", "用 GPT 的模型"),
    ("ポスター", "春のポスターです"),
    ("고양이", "고양이를 봤어요"),
    ("user_id", "the user id of 7"),
    ("3", "3 cats"),
    ("naïve", "a naive model"),
    ("straße", "die STRASSE"),
]
MISSED = [
    ("feet dry", "He had wet feet."),
    ("eet", "He had wet feet."),
    ("报海", "请做一张春季海报。"),
    ("春海", "请做一张春季海报。"),
    ("海报", "海边的报纸"),
    ("cats", "cat"),
]


@pytest.mark.parametrize(("query", "text"), FOUND)
def test_what_is_found(query: str, text: str) -> None:
    """Words by their beginning, whatever their case and accents; characters that stand together; in any order."""
    terms = read_query(query)
    assert matches(terms, cut(text))
    shown = show_found(text, terms)
    assert shown.marks
    for start, end in shown.marks:
        assert 0 <= start < end <= len(shown.text)


@pytest.mark.parametrize(("query", "text"), MISSED)
def test_what_is_not_found(query: str, text: str) -> None:
    """Every term must be there, a word from its beginning, characters side by side."""
    assert not matches(read_query(query), cut(text))


@pytest.mark.parametrize("query", ["", "  ", "!?", "、。", "\U0001f600"])
def test_a_query_without_letters_has_no_terms(query: str) -> None:
    """There is nothing to look for."""
    assert read_query(query) == ()


def test_a_snippet_marks_the_words_in_the_original() -> None:
    """Around the first of them, with the letters as they were written."""
    text = "x" * 200 + " Der CAFÉ-Besuch und noch ein Café " + "y" * 200
    shown = show_found(text, read_query("cafe"))
    assert [shown.text[start:end] for start, end in shown.marks] == ["CAFÉ", "Café"]
    assert shown.text.startswith("…")
    assert shown.text.endswith("…")
    assert len(shown.text) < 200
    assert show_found("第一行\n第二行 海报", read_query("海报")).text == "第一行 第二行 海报"
