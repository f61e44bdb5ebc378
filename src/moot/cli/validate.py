"""`moot validate`: every problem of team files, with its line, and what a valid one lacks on this machine."""

import json
import sys
from argparse import ArgumentParser, Namespace

from moot.cli import exits
from moot.cli.wording import say


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help=say("help.validate.files"))
    parser.add_argument("--json", action="store_true", help=say("help.validate.json"))


def run(options: Namespace) -> int:
    """Check each file. Warnings do not change the exit code: the file may be meant for another machine."""
    from moot.cli.projects import find_here

    if len(options.files) < 2:
        return exits.OK if check(options.files[0] if options.files else find_here(), options) else exits.INVALID_CONFIG
    checks = [check_readable(file, options) for file in options.files]
    return exits.OK if all(checks) else exits.INVALID_CONFIG


def check_readable(file: str, options: Namespace) -> bool:
    """Check one of several files: one that cannot be read is said, and the others are checked too."""
    from moot.core.errors import ConfigError

    try:
        return check(file, options)
    except ConfigError as error:
        print(f"moot: {error}", file=sys.stderr)
        return False


def check(file: str, options: Namespace) -> bool:
    """Print the problems of a file, or its warnings if it has none. Return whether it is valid."""
    from moot.cli.readiness import list_warnings
    from moot.config.loading import load_team, read_team
    from moot.config.message_format import show_name
    from moot.config.validation import find_problems

    source = read_team(file)
    problems = find_problems(source)
    warnings = [] if problems else list_warnings(load_team(file), source)
    named = {"file": file} if len(options.files) > 1 else {}
    for problem in [*problems, *warnings]:
        level = {"level": "warning"} if problem in warnings else {}
        if options.json:
            told = {"line": problem.line, "path": problem.where, "text": problem.sentence, **level, **named}
            print(json.dumps(told, ensure_ascii=False))
        else:
            print(problem.format(file, "warning" if level else ""))
    if not problems and not options.json:
        count = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
        print(f"{show_name(file)}: ok{count}")
    return not problems
