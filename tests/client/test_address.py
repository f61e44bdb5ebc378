"""Where a server is, and what of it may be shown."""

import pytest

from moot.client.address import read_address
from moot.core.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "shown", "websocket"),
    [
        ("http://127.0.0.1:8765", "http://127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("http://127.0.0.1:8765/#token=x", "http://127.0.0.1:8765", "ws://127.0.0.1:8765/ws"),
        ("ws://localhost:1/ws?token=x", "http://localhost:1", "ws://localhost:1/ws"),
        ("https://moot.example/team/", "https://moot.example:443/team", "wss://moot.example:443/team/ws"),
        ("http://[::1]:8765", "http://[::1]:8765", "ws://[::1]:8765/ws"),
    ],
)
def test_addresses_are_read_as_people_write_them(url: str, shown: str, websocket: str) -> None:
    """The URL that `moot serve` prints is enough; what is shown and asked for has no token in it."""
    address = read_address(url)
    assert (str(address), address.websocket(takes_batches=False, language=None)) == (shown, f"{websocket}?view=1")


@pytest.mark.parametrize(
    ("url", "given", "token"),
    [
        ("http://h:1/#token=abc", None, "abc"),
        ("http://h:1/?token=abc", None, "abc"),
        ("http://h:1/#token=abc", "other", "other"),
        ("http://h:1", None, None),
    ],
)
def test_the_token_is_found(url: str, given: str | None, token: str | None) -> None:
    """In the #fragment or ?token=; one that is given apart counts more."""
    assert read_address(url, given).token == token


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8765", "ftp://x", "http://", "http://h:port", "http://h:1/#token=a%0d%0aX:1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """One sentence; and a token cannot smuggle in a header."""
    with pytest.raises(ConfigError):
        read_address(url)
