"""Converts the library's exceptions to AgentError, whose type says whether a retry makes sense."""

import os
import ssl
from collections.abc import Iterator
from functools import cache

from moot.agents.llm.models import ModelAddress
from moot.core.errors import AgentError

DETAIL_CHARS = 300
SHORTEST_KEY = 4
_ENDED = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLSyscallError,
)  # the connection broke; nothing is configured wrongly


def explain(error: Exception, address: ModelAddress) -> AgentError:
    """Describe an error without revealing a key: servers' messages about keys are dropped, keys in others replaced."""
    from pydantic_ai import exceptions as pai

    match error:
        case AgentError():
            return error
        case pai.ModelConnectionError() if not isinstance(error, pai.ModelTimeoutError):
            return _explain_connection(error, address.name)
        case pai.UnexpectedModelBehavior() if not isinstance(error, pai.ContentFilterError):
            return _explain_behaviour(error, address.name)
    for kind, (error_type, sentence) in _rules().items():
        if isinstance(error, kind):
            message = sentence.format(
                who=address.name, fix=_fix_key(address.key_name), status=_status(error), detail=_detail(error, address)
            )
            return AgentError(error_type, message, getattr(error, "retry_after", None) or 0.0)
    return AgentError("agent", f"{address.name} failed: {type(error).__name__}")


@cache
def _rules() -> dict[type[Exception], tuple[str, str]]:
    """The error type and sentence for each exception; subclasses before their base classes."""
    from pydantic_ai import exceptions as pai

    return {
        pai.ModelAuthenticationError: ("auth", "{who} refused the key{status}: {fix}"),
        pai.ModelQuotaExceededError: ("budget", "{who}: the account has no credit left{status}"),
        pai.ModelRateLimitError: ("rate_limit", "{who} is busy{status}"),
        pai.ModelContextWindowExceededError: ("config", "{who}: what it was told is too long for it{status}"),
        pai.ModelNotFoundError: ("config", "{who} is not known there{status}: check model and base_url"),
        pai.ModelRequestRejectedError: ("config", "{who} does not take this request{status}{detail}"),
        pai.ModelTimeoutError: ("timeout", "{who} did not answer in time"),
        pai.ModelRequestTimeout: ("timeout", "{who} did not answer in time"),
        pai.ModelAPIError: ("agent", "{who} failed{status}{detail}"),
        pai.ContentFilterError: ("refused", "{who} refused to answer"),
        pai.UsageLimitExceeded: ("budget", "{who} went on for too many rounds"),
        pai.UserError: ("config", "{who} cannot be used like this{detail}"),
        TimeoutError: ("timeout", "{who} did not answer in time"),
    }


def _fix_key(name: str) -> str:
    if not name:
        return "name the variable that holds its key in `key`"
    return f"check key {name}" if os.environ.get(name) else f"set {name}"


def _status(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f" ({status})" if status else ""


def _explain_connection(error: Exception, who: str) -> AgentError:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AgentError("config", f"{who}: the server's certificate is not trusted")
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, _ENDED):
            return AgentError("config", f"{who}: no TLS connection ({cause.reason}); check base_url")
    if getattr(error, "phase", None) == "read":
        return AgentError("network", f"{who}: the connection broke off")
    return AgentError("network", f"{who} cannot be reached")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, each once."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _explain_behaviour(error: Exception, who: str) -> AgentError:
    message = str(error)
    if "output retries" in message:
        return AgentError("validation", f"{who} gave no usable answer, though asked again")
    if "token limit" in message:
        return AgentError("validation", f"{who} came to its token limit before the answer was whole")
    return AgentError("agent", f"{who} answered with nonsense")


def _detail(error: Exception, address: ModelAddress) -> str:
    """Return the server's own message, if there is one."""
    match getattr(error, "body", None):
        case {"error": {"message": str(message)}} | {"message": str(message)} | {"error": str(message)}:
            return f": {_cut(message, address)}"
        case None if not hasattr(error, "model_name"):
            return f": {_cut(str(error), address)}"
    return ""


def _cut(text: str, address: ModelAddress) -> str:
    key = os.environ.get(address.key_name, "")
    if len(key) >= SHORTEST_KEY:
        text = text.replace(key, f"[{address.key_name}]")
    return text[:DETAIL_CHARS]
