"""Exit codes of commands, and the sentence on stderr for each kind of failure."""

import errno
import sys
from argparse import Namespace
from collections.abc import Callable, Coroutine
from typing import Any

OK, FAILED, USAGE, INVALID_CONFIG, NOT_FOUND, BUSY, INTEGRITY, TIMEOUT, WORK_FAILED = range(9)
INTERRUPTED = 130


def run(command: Callable[[Namespace], int | Coroutine[Any, Any, int]], options: Namespace) -> int:
    """Run a command, plain or async, and return its exit code. Expected errors are printed as one sentence."""
    from moot.cli.usage import UsageError  # here, so that `moot --help` stays fast
    from moot.core import errors

    codes: tuple[tuple[type[BaseException], int], ...] = (
        (UsageError, USAGE),
        (errors.ConfigError, INVALID_CONFIG),
        (errors.NotFound, NOT_FOUND),
        (errors.Locked, BUSY),
        (errors.Corrupt, INTEGRITY),
        (TimeoutError, TIMEOUT),
        (errors.MootError, FAILED),
        (OSError, FAILED),
    )
    try:
        result = command(options)
        return result if isinstance(result, int) else _run_on_loop(result)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # not a failure: `main` handles it
        raise
    except tuple(kind for kind, _ in codes) as error:
        if getattr(options, "debug", False):
            import traceback

            traceback.print_exc()
        print(f"moot: {_sentence(error)}", file=sys.stderr)
        if getattr(error, "code", "") == "unknown_team":  # a server says so; here it is a team file that is missing
            return INVALID_CONFIG
        return next(code for kind, code in codes if isinstance(error, kind))


def _run_on_loop(coroutine: Coroutine[Any, Any, int]) -> int:
    """Run a coroutine on uvloop, or on asyncio's own loop on platforms without uvloop."""
    import asyncio

    try:
        import uvloop
    except ImportError:
        return asyncio.run(coroutine)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


def _sentence(error: BaseException) -> str:
    from moot.config.message_format import show_name
    from moot.core.errors import Refused
    from moot.core.session.notices import explain
    from moot.core.session.team import DEFAULT_LANGUAGE

    if isinstance(error, Refused):
        return explain(error, DEFAULT_LANGUAGE)
    if isinstance(error, OSError) and error.filename:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "make room on its disk" if full else "check its name and your permissions"
        return f"{show_name(str(error.filename))} cannot be used ({error.strerror}); {fix}"
    if isinstance(error, OSError) and error.strerror:
        return f"the output cannot be written ({error.strerror})"
    return str(error) or "the time is over"
