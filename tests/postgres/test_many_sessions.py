"""Ten thousand sessions in one database."""

import asyncio
import time

from moot.core.codec import Head
from tests.contract.logs import SUMMARY, make_events
from tests.postgres.test_pg_writes import opened
from tests.runtime.apps import run

COUNT, PAGE = 10_000, 200


@run
async def test_ten_thousand_sessions_are_listed_in_pages(pg_url: str) -> None:
    """Every session is in one page, and a page costs less than the whole list."""
    async with opened(pg_url) as log:
        ids = [f"s{number:05}" for number in range(COUNT)]
        await asyncio.gather(*[log.append(each, Head(), make_events(each), summary=SUMMARY) for each in ids])
        assert log.commit_count < COUNT / 50  # they share commits
        seen: list[str] = []
        took_s: list[float] = []
        before: str | None = None
        while True:
            began = time.perf_counter()
            page = await log.list_page(PAGE, before=before)
            took_s.append(time.perf_counter() - began)
            if not page:
                break
            seen += [listing.session_id for listing in page]
            before = page[-1].place
        assert seen == ids[::-1]
        began = time.perf_counter()
        assert len(await log.sessions()) == COUNT
        whole_s = time.perf_counter() - began
        print(f"a page of {PAGE}: {sorted(took_s)[len(took_s) // 2]:.4f} s, the list: {whole_s:.4f} s")
        assert sorted(took_s)[len(took_s) // 2] < whole_s
