"""`moot token`: shows the owner's token and manages those of others. A running server notices changes within a second.

The docstrings of the actions are their help texts.
"""

import asyncio
import json
import os
import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from moot.cli import exits
from moot.cli.data import add_store_arguments, data_folder, find_sessions
from moot.cli.parser import read_number
from moot.cli.usage import UsageError
from moot.cli.wording import say
from moot.config.loading import list_built_in_teams, load_team
from moot.config.private_files import OWNER_FILE, TOKEN_VARIABLE, keep_secret
from moot.core.errors import ConfigError, NotFound
from moot.core.session.principal import Role
from moot.core.session.team import Kind
from moot.core.text import clean
from moot.gateway.auth import LOGINS_FILE, OWNER_ID, TOKENS_FILE
from moot.gateway.login_file import LOGIN_ID, LoginFile
from moot.gateway.shared_credentials import SharedCredentials
from moot.gateway.token_file import TokenFile, TokenRecord
from moot.protocol.command_table import SESSION_ID
from moot.runtime.clock import format_time
from moot.runtime.cluster import SharedStore, cluster_of

LOOKED_AT = 50  # team files of a folder
LONGEST_S = 100 * 365 * 86_400.0


def add_arguments(parser: ArgumentParser) -> None:
    add_store_arguments(parser)
    parser.set_defaults(action=show)
    actions = parser.add_subparsers(metavar="ACTION", title=say("help.actions_of_token"))
    for name, action in {"create": create, "list": list_tokens, "logins": list_logins, "revoke": revoke}.items():
        inner = actions.add_parser(name, help=(line := say(f"help.token.{name}")), description=line)
        inner.set_defaults(action=action)
        if name == "create":
            inner.add_argument(
                "--role", choices=[role.value for role in Role], required=True, help=say("help.token.role")
            )
            inner.add_argument("--session", metavar="ID", help=say("help.token.session"))
            inner.add_argument("--member", metavar="ID", help=say("help.token.member"))
            inner.add_argument(
                "--pool",
                metavar="NAME",
                action="append",
                default=[],
                help=say("help.token.pool"),
            )
            inner.add_argument("--label", default="", metavar="TEXT", help=say("help.token.label"))
            inner.add_argument("--expires", type=read_number, metavar="S", help=say("help.token.expires"))
        if name == "revoke":
            inner.add_argument("id", metavar="ID", help=say("help.token.id"))
        else:
            inner.add_argument("--json", action="store_true", help=say("help.json_lines"))
        add_store_arguments(inner, is_inner=True)


def run(options: Namespace) -> int:
    store = find_sessions(options)
    if not isinstance(store, SharedStore):
        return int(options.action(options))
    return asyncio.run(_run_shared(options, store))


async def _run_shared(options: Namespace, store: SharedStore) -> int:
    """Work on the tokens of all servers on a store: fetch them, change them, and carry the change back."""
    log = await store.open()
    try:
        cluster = cluster_of(log)
        if cluster is None:
            return int(options.action(options))
        has_owner_file = not os.environ.get(TOKEN_VARIABLE)
        credentials = SharedCredentials(data_folder(options), cluster.documents, has_owner_file=has_owner_file)
        await credentials.start()
        result = int(options.action(options))
        await credentials.sync()
        return result
    finally:
        await log.close()


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
    if role is Role.WORKER and (options.member or options.session):
        raise UsageError("--role worker plays members and is nobody; leave out --member and --session, use --pool")
    if options.pool and role is not Role.WORKER:
        raise UsageError("--pool is for --role worker")
    if options.session is not None and not SESSION_ID.fullmatch(options.session):
        raise UsageError(f"--session {options.session!r} is no id of a session; `moot sessions list` shows them")
    if options.expires is not None and not 0 < options.expires <= LONGEST_S:
        raise UsageError(f"--expires must be more than 0 and at most {LONGEST_S:.0f} seconds")
    if options.member and not is_known(options.member):
        print(f"note: no team file in this folder has a human {options.member!r}", file=sys.stderr)
    token, record = _token_file(options).create(
        role,
        format_time(now),
        session_id=options.session,
        member=options.member,
        label=clean(options.label),
        pools=tuple(options.pool),
        expires_at=format_time(now + timedelta(seconds=options.expires)) if options.expires else None,
    )
    if options.json:
        print(json.dumps({**describe(record), "token": token}, ensure_ascii=False))
    else:
        print(token)
        print(f"created {record.token_id}: {_one_line(record)}. Save it now: it is not shown again", file=sys.stderr)
    return exits.OK


def is_known(member: str) -> bool:
    """Whether a human of this id is in a team file of this folder or in a built-in team."""
    beside = [str(file) for file in sorted(Path().glob("*.y*ml"))[:LOOKED_AT]]
    for file in (*beside, *list_built_in_teams()):
        with suppress(ConfigError):
            if any(human.id == member and human.kind is Kind.HUMAN for human in load_team(file).members):
                return True
    return False


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


def list_logins(options: Namespace) -> int:
    """list the browsers that are logged in, with the token of each"""
    logins = _login_file(options).list()
    for login in logins:
        if options.json:
            fields = ("login_id", "token_id", "created_at", "last_used_at", "ends_at", "agent")
            print(json.dumps({name: getattr(login, name) for name in fields}, ensure_ascii=False))
        else:
            print(f"{login.login_id}  {login.token_id}  last used {login.last_used_at}  {login.agent}".rstrip())
    if not logins:
        print("no browser is logged in", file=sys.stderr)
    return exits.OK


def revoke(options: Namespace) -> int:
    """make a token or a login worthless, also for those who are connected with it"""
    if options.id.startswith(LOGIN_ID):
        logins = _login_file(options)
        if options.id not in [login.login_id for login in logins.list()]:
            raise NotFound(f"no login {options.id!r}; `moot token logins` shows them")
        logins.end(options.id)
        return exits.OK
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
        **({"pools": record.pools} if record.pools else {}),
        "created_at": record.created_at,
        "expires_at": record.expires_at,
    }


def _one_line(record: TokenRecord) -> str:
    words = [record.role.value]
    if record.member:
        words.append(f"as {record.member}")
    if record.role is Role.WORKER:
        words.append(f"of {', '.join(record.pools)}" if record.pools else "of every pool")
    else:
        words.append(f"in {record.session_id}" if record.session_id else "in every session")
    words.append(f"until {record.expires_at}" if record.expires_at else "without expiry")
    return " ".join([*words, *([f"({record.label})"] if record.label else [])])


def _login_file(options: Namespace) -> LoginFile:
    return LoginFile(data_folder(options) / LOGINS_FILE, lambda: format_time(datetime.now(UTC)))


def _token_file(options: Namespace) -> TokenFile:
    return TokenFile(data_folder(options) / TOKENS_FILE)
