"""The CLIs that are known by name: how each is started without a terminal, and what it may see of the environment.

The prompt goes in by stdin, so that nothing that was said becomes part of a command line. A conversation's id comes
from the CLI itself and counts only in the form that all of them use.
"""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from moot.agents.environment import NETWORK_NAMES

Name = Literal["claude", "codex", "gemini"]
Permissions = Literal["read", "edit", "all"]

_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Preset(Struct, frozen=True, kw_only=True):
    """`environment` is set for every turn; `names` are passed on if they are there."""

    argv: Callable[[str | None, Permissions, str | None], tuple[str, ...]]  # model, permissions, conversation
    names: tuple[str, ...]
    environment: dict[str, str] = {}


def is_session_id(written: str | None) -> bool:
    """A lower-case UUID: nothing else gets onto a command line."""
    return bool(written and _SESSION_ID.fullmatch(written))


def _claude(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    mode = {"read": "default", "edit": "acceptEdits", "all": "bypassPermissions"}[permissions]
    flags = ("--output-format", "stream-json", "--verbose", "--include-partial-messages", "--permission-mode", mode)
    return ("claude", "-p", *flags, *_given("--model", model), *_given("--resume", session_id))


def _codex(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    sandbox = {"read": "read-only", "edit": "workspace-write", "all": "danger-full-access"}[permissions]
    flags = ("--json", "--skip-git-repo-check", "--disable", "plugins", "--sandbox", sandbox)
    quiet = ("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
    resume = ("resume", session_id) if session_id else ()
    return ("codex", "exec", *flags, *quiet, *_given("-m", model), *resume, "-")


def _gemini(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    mode = {"read": "default", "edit": "auto_edit", "all": "yolo"}[permissions]
    flags = ("-o", "stream-json", "--approval-mode", mode)
    return ("gemini", *flags, *_given("-m", model), *_given("--resume", session_id))


def _given(flag: str, value: str | None) -> tuple[str, ...]:
    return (flag, value) if value else ()


PRESETS: dict[Name, Preset] = {
    "claude": Preset(
        argv=_claude,
        names=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
            *("CLAUDE_CONFIG_DIR", "IS_SANDBOX", *NETWORK_NAMES),  # the latter: root may do anything in this container
        ),
        environment={  # without a bound it tries a wrong key ten times, for more than 100 s
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "codex": Preset(argv=_codex, names=("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", *NETWORK_NAMES)),
    "gemini": Preset(
        argv=_gemini,
        names=(
            *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"),
            *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", *NETWORK_NAMES),
        ),
        environment={"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
}
