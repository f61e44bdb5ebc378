"""`moot sessions search`: what was said, wherever it was."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

import msgspec

from moot.cli import exits
from moot.cli.progress import Progress
from moot.cli.reading import find_existing
from moot.cli.run import pick_session_id
from moot.cli.session_table import tell_age
from moot.cli.usage import UsageError
from moot.core.search_words import read_query
from moot.runtime.clock import SystemClock
from moot.runtime.searching import Found, search

BOLD, PLAIN = "\x1b[1m", "\x1b[22m"


async def search_sessions(options: Namespace) -> int:
    """find what was said with all these words, in every session; a word is found by its beginning"""
    query = " ".join(options.words)
    if not read_query(query):
        raise UsageError("there is no word to search for: write some letters or digits")
    with Progress("searching"):
        found = (await _find(options, query))[: options.limit]
    if options.json:
        for each in found:
            print(json.dumps(msgspec.to_builtins(each), ensure_ascii=False))
    else:
        for line in list_lines(found, SystemClock().now(), is_marked=sys.stdout.isatty()):
            print(line)
    if not found:
        print(f"nobody has said {query!r}", file=sys.stderr)
    return exits.OK


async def _find(options: Namespace, query: str) -> list[Found]:
    if options.connect:
        from moot.cli.remote import reading_from  # here, because only --connect needs it

        async with reading_from(options) as remote:
            ids = [listing.session_id for listing in await remote.sessions()] if options.session else []
            return await remote.find_said(query, pick_session_id(ids, options.session) if options.session else None)
    log = await find_existing(options).open(read_only=True)
    try:
        ids = [listing.session_id for listing in await log.sessions()] if options.session else []
        session_id = pick_session_id(ids, options.session) if options.session else None
        return await search(log, query, session_id=session_id)
    finally:
        await log.close()


def list_lines(found: Sequence[Found], now: str, *, is_marked: bool) -> Iterator[str]:
    """Yield each session with what was found in it below, in the order of its newest."""
    for session_id in dict.fromkeys(each.session_id for each in found):
        hits = [each for each in found if each.session_id == session_id]
        yield f"{session_id}  {hits[0].title or hits[0].team}"
        for each in hits:
            author = f"{each.by}: " if each.by else ""
            yield f"  #{each.seq:<5} {tell_age(each.at, now):11}  {author}{_mark(each) if is_marked else each.text}"


def _mark(found: Found) -> str:
    text = found.text
    for start, end in sorted(found.marks, reverse=True):
        text = f"{text[:start]}{BOLD}{text[start:end]}{PLAIN}{text[end:]}"
    return text
