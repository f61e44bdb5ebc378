"""How a command ends: exit codes, and one sentence on stderr for each kind of failure."""

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

OK, FAILED, USAGE, INVALID_CONFIG, NOT_FOUND, BUSY, INTEGRITY, TIMEOUT, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 7, 130


def run(command: Callable[[Namespace], Any], options: Namespace) -> int:
    """Run a command, plain or async; turn what it raises into a sentence and a code."""
    import inspect  # only now: `moot --help` needs none of it

    import uvloop

    from moot.cli.usage import UsageError
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
        return int(uvloop.run(result) if inspect.iscoroutine(result) else result)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # not a failure: the caller knows what to do
        raise
    except tuple(kind for kind, _ in codes) as error:
        print(f"moot: {_sentence(error)}", file=sys.stderr)
        return next(code for kind, code in codes if isinstance(error, kind))


def _sentence(error: BaseException) -> str:
    from moot.core.errors import Refused
    from moot.core.notices import explain

    if isinstance(error, Refused):
        return explain(error, "en")
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be used ({error.strerror}); check its name and your permissions"
    if isinstance(error, OSError) and error.strerror:
        return f"the output cannot be written ({error.strerror})"
    return str(error) or "the time is over"
