"""What a CLI says when it fails becomes a type that says whether trying again helps."""

from datetime import UTC, datetime

import pytest

from moot.agents.cli.failures import read_failure
from moot.agents.cli.text import TextReader

CASES = [
    ("Invalid API key · Please run /login", None, "auth", 0),
    ("unexpected status 401 Unauthorized", None, "auth", 0),
    ("401 scripted failure", None, "auth", 0),
    ("Internal error: Incorrect API key provided: sk-***", None, "auth", 0),
    ("API Error: Unauthorized", None, "auth", 0),
    ("anything", 403, "auth", 0),
    ("You are not logged in", None, "auth", 0),
    ("429 Too Many Requests, retry after 12s", None, "rate_limit", 12),
    ("Rate limit reached. Please try again in 1m30s.", None, "rate_limit", 90),
    ("API Error: Request rejected (429) · scripted failure", None, "rate_limit", 0),
    ('{"error":{"code":429,"retryDelay":"7.5s"}}', None, "rate_limit", 7.5),
    ("Overloaded, retry in 250ms", 529, "rate_limit", 0.25),
    ("You exceeded your current quota", None, "rate_limit", 0),
    ("This request was blocked by our content policy", None, "refused", 0),
    ("connect ECONNREFUSED 127.0.0.1:1", None, "network", 0),
    ("stream disconnected before completion", None, "network", 0),
    ("TypeError: fetch failed", None, "network", 0),
    ("getaddrinfo ENOTFOUND api.example.com", None, "network", 0),
    ("FileNotFoundError: [Errno 2] No such file or directory", None, "agent", 0),
    ("The model `gpt-9` does not exist", None, "config", 0),
    ("error: unknown option '--frobnicate'", None, "config", 0),
    ("--dangerously-skip-permissions cannot be used with root/sudo privileges", None, "config", 0),
    ("Internal server error", 500, "agent", 0),
    ("", None, "agent", 0),
]


@pytest.mark.parametrize(("said", "status", "error_type", "retry_after_s"), CASES)
def test_failures_are_told_apart(said: str, status: int | None, error_type: str, retry_after_s: float) -> None:
    """Wrong keys and refusals are final, a busy server says when to come back."""
    error = read_failure("claude", said, status)
    assert (error.error_type, error.retry_after_s) == (error_type, retry_after_s)
    assert str(error).startswith("claude failed: ")


LIMITS = [
    ("You've hit your usage limit. Try again in 3 hours 12 minutes.", 11_520),
    ("usage limit reached, try again in 2 days 1 hour", 176_400),
    ("You've hit your usage limit. Try again in 45 minutes.", 2_700),
    ("Claude AI usage limit reached|1767236400", 10_800),
    ("You've hit your usage limit · resets 3pm (UTC)", 54_060),
    ("You've hit your usage limit · resets 1:30am (Europe/Berlin)", 1_860),
    ("You've hit your session limit · resets Jan 3, 1:30pm (UTC)", 221_460),
    ("You've hit your weekly limit · resets Jan 3 at 1pm (UTC)", 219_660),
    ("You've hit your usage limit. Visit https://x.example/usage or try again at Jan 2nd, 2026 7:49 AM.", 114_600),
    ("You've hit your usage limit; try again at 12:00 AM", 60),
    ("usage limit reached; resets Feb 31, 1:30pm", 0),
    ("usage limit reached; resets Foo 3, 1:30pm", 0),
    ("usage limit reached; try again at 23:15", 83_760),
    ("usage limit reached; resets 99", 0),
    ("usage limit reached; resets at 25:00", 0),
    ("usage limit reached", 0),
]


@pytest.mark.parametrize(("said", "seconds"), LIMITS)
def test_the_end_of_a_usage_limit_is_read(said: str, seconds: int) -> None:
    """A while, a time with or without its day and zone, or seconds of the epoch; nothing is guessed."""
    error = read_failure("claude", said, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert (error.error_type, error.retry_after_s) == ("rate_limit", seconds)


def test_failures_are_short_and_safe() -> None:
    """However long and wild the reason is, it is a sentence."""
    said = str(read_failure("codex", "\x1b[31m" + "x" * 10_000))
    assert len(said) < 1_000
    assert "\x1b" not in said


def test_text_is_shown_as_it_comes() -> None:
    """Pieces are shown at once; halves of characters and of escape sequences wait."""
    reader = TextReader()
    assert reader.feed(b"h\xc3") == "h"
    assert reader.feed(b"\xa9 \x1b") == "é "
    assert reader.feed(b"[31mred\x1b[0m\nnext") == "red\nnext"
    assert reader.close() == ""
    assert reader.text == "hé red\nnext"


def test_every_cut_of_a_text_gives_the_same() -> None:
    """Bad UTF-8, escapes and line ends survive any cut."""
    data = "a\x1b[1mb\x1b]0;title\x07c\r\nd 你好 \x1b[0m".encode() + b"\xff\xfe end"
    whole = TextReader()
    whole.feed(data)
    whole.close()
    assert whole.text == "abc\nd 你好 \ufffd\ufffd end"
    for cut in range(len(data)):
        halves = TextReader()
        halves.feed(data[:cut])
        halves.feed(data[cut:])
        halves.close()
        assert halves.text == whole.text


@pytest.mark.parametrize(
    ("message", "detail"),
    [
        ('{"error":{"type":"x","message":"no such key","code":401}}', "no such key (401)"),
        ('API Error: 500 {"message": "oops"} later', "API Error: 500 oops later"),
        ('{"error": "overloaded"}', "overloaded"),
        ('{"details": 1}', '{"details": 1}'),
        ("{not json", "{not json"),
        ("{" * 100_000, "{" * 100),
    ],
)
def test_people_read_words(message: str, detail: str) -> None:
    """The JSON of a server's error is replaced by what it says."""
    assert str(read_failure("x", message)).startswith(f"x failed: {detail}")
