"""Gemini CLI: `gemini -o stream-json` (measured with 0.61.0). Pure."""

from collections.abc import Iterator

from moot.agents.cli.dialect import Answer, Tools, as_text, count, make_usage, observe, part, show, word
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.cli.presets import Login, Preset, option
from moot.agents.environment import NETWORK_NAMES
from moot.agents.output_limits import PartialOutput
from moot.agents.permits import Permissions
from moot.core.session.usage import Usage
from moot.runtime.ports import Result


class GeminiReader:
    spent = Usage()  # each turn reports its own usage

    def __init__(self) -> None:
        self.session_id: str | None = None
        self._answer = Answer()
        self._tools = Tools()
        self._end: Json | None = None

    def read(self, event: Json) -> Iterator[PartialOutput]:
        match event["type"]:
            case "init":
                self.session_id = word(event, "session_id") or self.session_id
            case "message" if event.get("role") == "assistant":
                self._answer.add(word(event, "content"))
                yield from show(word(event, "content"))
            case "tool_use":
                yield from self._answer.end_block()
                yield self._tools.begin(word(event, "tool_id"), word(event, "tool_name"), event.get("parameters"))
            case "tool_result":
                failed = event.get("status") not in (None, "success")
                output = event.get("output") or as_text(part(event, "error").get("message"))
                yield self._tools.end(word(event, "tool_id"), output, failed=failed)
            case "error":
                yield observe(word(event, "message"))
            case "result":
                self._end = event

    def result(self) -> Result | None:
        end = self._end
        if end is None:
            return None
        usage = _read_usage(part(end, "stats"))
        if end.get("status") != "success":
            failure = read_failure("gemini", word(part(end, "error"), "message") or str(end.get("status")))
            failure.usage = usage
            raise failure
        return Result(text=self._answer.text, usage=usage)


def _read_usage(stats: Json) -> Usage:
    """Tokens of thinking are in the total only."""
    given, said = count(stats.get("input_tokens")), count(stats.get("output_tokens"))
    thinking = max(count(stats.get("total_tokens")) - given - said, 0)
    return make_usage(given, said + thinking, cached=stats.get("cached"), thinking=thinking)


def list_arguments(model: str | None, permissions: Permissions, session_id: str | None) -> tuple[str, ...]:
    mode = {"read": "default", "ask": "default", "edit": "auto_edit", "all": "yolo"}[permissions]
    flags = ("-o", "stream-json", "--approval-mode", mode)
    return ("gemini", *flags, *option("-m", model), *option("--resume", session_id))


GEMINI_TURNS = Preset(
    name="gemini",
    provider="gcp.gemini",
    argv=list_arguments,
    reader=lambda _: GeminiReader(),
    names=(
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", *NETWORK_NAMES),
    ),
    keys=("GEMINI_API_KEY",),  # the other variables count only with a setting of its own
    login=Login(folder=".gemini", file="oauth_creds.json"),
    install="npm install -g @google/gemini-cli",
    tested_with="0.61.0",
    environment={"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
)
