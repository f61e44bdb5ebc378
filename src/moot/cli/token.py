"""`moot token`: shows the owner's token and manages those of others. A running server notices changes within a second.

The docstrings of the actions are their help texts.
"""

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime, timedelta

from moot.cli import exits
from moot.cli.data import add_data_argument, data_folder
from moot.cli.parser import read_number
from moot.cli.usage import UsageError
from moot.config.private_files import keep_secret
from moot.core.session.principal import Role
from moot.gateway.auth import OWNER_FILE, OWNER_ID, TOKEN_VARIABLE, TOKENS_FILE
from moot.gateway.token_file import TokenFile, TokenRecord
from moot.protocol.commands import SESSION_ID
from moot.runtime.clock import format_time

LONGEST_S = 100 * 365 * 86_400.0


def add_arguments(parser: ArgumentParser) -> None:
    add_data_argument(parser)
    parser.set_defaults(action=show)
    actions = parser.add_subparsers(metavar="ACTION", title="actions; without one the owner's own token is shown")
    for name, action in {"create": create, "list": list_tokens, "revoke": revoke}.items():
        inner = actions.add_parser(name, help=action.__doc__, description=action.__doc__)
        inner.set_defaults(action=action)
        if name == "create":
            inner.add_argument(
                "--role", choices=[role.value for role in Role], required=True, help="what may be done with it"
            )
            inner.add_argument("--session", metavar="ID", help="for this session only (default: every session)")
            inner.add_argument("--member", metavar="ID", help="the human to speak as; needed for the role member")
            inner.add_argument("--label", default="", metavar="TEXT", help="to remember whom it was given to")
            inner.add_argument("--expires", type=read_number, metavar="S", help="seconds from now (default: never)")
        if name == "revoke":
            inner.add_argument("id", metavar="ID", help="as shown by list; `owner` is replaced by a new one")
        else:
            inner.add_argument("--json", action="store_true", help="JSON Lines")
        add_data_argument(inner)


def run(options: Namespace) -> int:
    return int(options.action(options))


def show(options: Namespace) -> int:
    """print the owner's token, which may do everything"""
    print(os.environ.get(TOKEN_VARIABLE) or keep_secret(data_folder(options) / OWNER_FILE).decode("ascii"))
    return exits.OK


def create(options: Namespace) -> int:
    """make a token and show it, this once"""
    role, now = Role(options.role), datetime.now(UTC)
    if role is Role.MEMBER and not options.member:
        raise UsageError("--role member needs --member ID: the human of the team to speak as")
    if role is Role.VIEWER and options.member:
        raise UsageError("--role viewer only looks on and speaks as nobody; leave out --member or use --role member")
    if options.session is not None and not SESSION_ID.fullmatch(options.session):
        raise UsageError(f"--session {options.session!r} is no id of a session; `moot sessions list` shows them")
    if options.expires is not None and not 0 < options.expires <= LONGEST_S:
        raise UsageError(f"--expires must be more than 0 and at most {LONGEST_S:.0f} seconds")
    token, record = _token_file(options).create(
        role,
        format_time(now),
        session_id=options.session,
        member=options.member,
        label=options.label,
        expires_at=format_time(now + timedelta(seconds=options.expires)) if options.expires else None,
    )
    if options.json:
        print(json.dumps({**describe(record), "token": token}, ensure_ascii=False))
    else:
        print(token)
        print(f"{record.token_id}: {_one_line(record)}; it is not shown again", file=sys.stderr)
    return exits.OK


def list_tokens(options: Namespace) -> int:
    """list every token that was given out, without the token itself"""
    records = _token_file(options).read()
    for record in records:
        if options.json:
            print(json.dumps(describe(record), ensure_ascii=False))
        else:
            print(f"{record.token_id}  {_one_line(record)}")
    if not records:
        print("no tokens besides the owner's; `moot token create` makes one", file=sys.stderr)
    return exits.OK


def revoke(options: Namespace) -> int:
    """make a token worthless, also for those who are connected with it"""
    if options.id == OWNER_ID:
        path = data_folder(options) / OWNER_FILE
        path.unlink(missing_ok=True)
        keep_secret(path)
        print("the owner has a new token; `moot serve` prints its URL when it starts", file=sys.stderr)
        return exits.OK
    _token_file(options).revoke(options.id)
    return exits.OK


def describe(record: TokenRecord) -> dict[str, object]:
    return {
        "token_id": record.token_id,
        "role": record.role.value,
        "session_id": record.session_id,
        "member": record.member,
        "label": record.label,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
    }


def _one_line(record: TokenRecord) -> str:
    words = [record.role.value]
    if record.member:
        words.append(f"as {record.member}")
    words.append(f"in {record.session_id}" if record.session_id else "in every session")
    words.append(f"until {record.expires_at}" if record.expires_at else "for good")
    return " ".join([*words, *([f"({record.label})"] if record.label else [])])


def _token_file(options: Namespace) -> TokenFile:
    return TokenFile(data_folder(options) / TOKENS_FILE)
