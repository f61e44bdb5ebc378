"""What a terminal is sent when somebody is waited for."""

from moot.tui.alerts import write_alert, write_title


def test_each_alert_is_a_setting() -> None:
    """Only those that are wanted are sent, always in the same order."""
    assert write_alert((), "Moot", "your turn") == ""
    assert write_alert(("bell",), "Moot", "your turn") == "\a"
    assert write_alert(("osc777", "title", "osc9"), "a;b", "your turn") == (
        "\x1b]2;● a;b: your turn\a\x1b]9;a;b: your turn\a\x1b]777;notify;a,b;your turn\a"
    )
    assert write_title(("bell",), "Moot") == ""
    assert write_title(("title",), "Moot") == "\x1b]2;Moot\a"


def test_a_text_of_an_agent_cannot_end_the_sequence() -> None:
    """Control characters and line breaks become spaces; a long text is cut."""
    alert = write_alert(("osc9",), "Moot", "x\a\x1b]52;c;evil\x07\n\u202ey" + "z" * 999)
    assert alert.count("\x1b") == alert.count("\a") == 1
    assert len(alert) < 230
    assert write_title(("title",), "a\x1b\\b") == "\x1b]2;a \\b\a"
