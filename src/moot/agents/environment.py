"""The environment variables that a program started by Moot gets: harmless ones and those it is allowed."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec.structs import replace

from moot.core.session.tool_use import ToolUse

# Not secret; without them most programs do not find their files or the user's language.
PLAIN_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"),
    *("LC_MESSAGES", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
)
# How a program reaches the network, for those that need it.
NETWORK_NAMES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?<=_)(PASS|PWD)$|CREDENTIAL|AUTH(?!OR(?!IZ))",  # not AUTHOR, PWD
    re.IGNORECASE,
)
_LOGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s]*?:([^/@\s]+)@", re.IGNORECASE)  # the password in a URL
_SHORTEST_SECRET = 8  # shorter values may be ordinary words


def pick_environment(
    allowed: Iterable[str], source: Mapping[str, str] | None = None, fixed: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Pick the harmless and the allowed variables from `source` (the process's own, if None), then add `fixed`."""
    source = os.environ if source is None else source
    picked = {name: source[name] for name in (*PLAIN_NAMES, *allowed) if name in source}
    return {**picked, "TERM": "dumb", "NO_COLOR": "1", **(fixed or {})}


@cache
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def find_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of variables whose names look secret, and passwords in URLs, by name; the longest first."""
    found = {name: value if _is_secret(name) else _find_password(value) for name, value in environment.items()}
    by_length = sorted(found.items(), key=lambda each: -len(each[1]))
    return {name: value for name, value in by_length if len(value) >= _SHORTEST_SECRET}


def _find_password(value: str) -> str:
    match = _LOGIN.match(value) if "://" in value else None
    return match[1] if match else ""


def hide_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Replace the secrets of an environment by `[NAME]`: a program may print what it was given."""
    return replace_secrets(text, find_secrets(environment))


def replace_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """Replace what `find_secrets` returned by `[NAME]`."""
    for name, value in secrets.items():
        if value in text:
            text = text.replace(value, f"[{name}]")
    return text


def hide_in_tool(tool: ToolUse, hide: Callable[[str], str]) -> ToolUse:
    """Return the use of a tool without secrets: commands and paths are the agent's words."""
    return replace(tool, title=hide(tool.title), paths=tuple(map(hide, tool.paths)))


def count_secret_start(text: str, secrets: Mapping[str, str]) -> int:
    """Return how many characters at the end of a text may be the beginning of a secret."""
    longest = max(map(len, secrets.values()), default=1) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(len(value) > length and value.startswith(text[-length:]) for value in secrets.values()):
            return length
    return 0


def split_at_secret(text: str, secrets: Mapping[str, str]) -> tuple[str, str]:
    """Return a text without secrets, up to where one may begin, and the rest, which must wait for what comes next.

    A secret may be the beginning of another: it waits too.
    """
    shown = ""
    while True:
        waits_from = len(text) - count_secret_start(text, secrets)
        found = [(text.find(value), -len(value), name) for name, value in secrets.items() if value in text]
        at, size, name = min(found, default=(waits_from, 0, ""))
        if at >= waits_from:
            return shown + text[:waits_from], text[waits_from:]
        shown, text = f"{shown}{text[:at]}[{name}]", text[at - size :]
