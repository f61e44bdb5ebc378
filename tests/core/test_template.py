"""Templates of prompts."""

from moot.core.template import fill, list_placeholders


def test_placeholders_are_listed_once() -> None:
    """Each name stands once, in the order of the template; spaces inside the braces do not count."""
    assert list_placeholders("{{b}} {{ a }} {{b}} {c} {{d e}}") == ("b", "a")


def test_what_is_unknown_stays() -> None:
    """A placeholder without a value is left as it is, and values are not templates."""
    assert fill("{{ a }}, {{b}}", {"a": "{{b}}"}.get) == "{{b}}, {{b}}"
