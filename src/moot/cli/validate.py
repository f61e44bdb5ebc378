"""`moot validate`: every problem of a team file, with its line."""

import json
from argparse import ArgumentParser, Namespace

from moot.cli import exits


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a team file (YAML)")
    parser.add_argument("--json", action="store_true", help="one JSON object a problem")


def run(options: Namespace) -> int:
    from moot.config.loading import list_problems
    from moot.config.message_format import show_name

    problems = list_problems(options.file)
    for problem in problems:
        if options.json:
            print(
                json.dumps({"line": problem.line, "path": problem.where, "text": problem.sentence}, ensure_ascii=False)
            )
        else:
            print(problem.format(options.file))
    if not problems and not options.json:
        print(f"{show_name(options.file)}: ok")
    return exits.INVALID_CONFIG if problems else exits.OK
