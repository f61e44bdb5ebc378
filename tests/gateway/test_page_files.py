"""How the page is served: packed, cached under names that never change, and with a page where there is none."""

import gzip
from pathlib import Path

import pytest

from moot.gateway.page import IMMUTABLE, REVALIDATE, Page
from tests.gateway.sites import code_of, open_site
from tests.runtime.apps import run

TEXTS = "lang/en.json"


@run
async def test_files_are_packed_for_those_who_take_it(tmp_path: Path) -> None:
    """The same content, smaller, with one tag; whoever refuses it, or does not ask, gets it as it is."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        plain = await client.get(f"/static/{TEXTS}", headers={"accept-encoding": "identity"})
        packed = await client.get(f"/static/{TEXTS}", headers={"accept-encoding": "br;q=0, gzip, deflate"})
        assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "accept-encoding")
        assert packed.content == plain.content == Page().files[TEXTS].body
        assert int(packed.headers["content-length"]) * 2 < len(plain.content)
        assert "content-encoding" not in plain.headers
        assert packed.headers["etag"] == plain.headers["etag"]
        refused = await client.get(f"/static/{TEXTS}", headers={"accept-encoding": "gzip;q=0"})
        assert "content-encoding" not in refused.headers
        same = {"if-none-match": plain.headers["etag"], "accept-encoding": "gzip"}
        assert (await client.get(f"/static/{TEXTS}", headers=same)).status_code == 304


@run
async def test_a_name_with_the_version_never_changes(tmp_path: Path) -> None:
    """It may be kept for a year; the page itself and names without the version are asked for again."""
    async with open_site(tmp_path) as site, site.client(None) as client:
        for path, expected in (
            ("/", REVALIDATE),
            (f"/static/{TEXTS}", REVALIDATE),
            (f"/static/{Page().version}/{TEXTS}", IMMUTABLE),
        ):
            assert (await client.get(path)).headers["cache-control"] == expected


def test_what_the_build_has_packed_is_used(tmp_path: Path) -> None:
    """A file with the ending .br beside another is that one, packed; it is no file of its own."""
    (tmp_path / "app.js").write_text("let a = 1;\n" * 200)
    (tmp_path / "app.js.br").write_bytes(b"small")
    (tmp_path / "dot.png").write_bytes(b"x" * 2000)
    files = Page(tmp_path).files
    assert list(files["app.js"].packed) == ["br", "gzip"]
    assert gzip.decompress(files["app.js"].packed["gzip"]) == files["app.js"].body
    assert "app.js.br" not in files
    assert files["dot.png"].packed == {}


@pytest.mark.parametrize("token", [True, False])
@run
async def test_people_get_a_page_where_there_is_none(token: bool, tmp_path: Path) -> None:
    """In their language, with a way home; programs, and everything below /api, get an error frame."""
    async with open_site(tmp_path) as site, site.client() if token else site.client(None) as client:
        answer = await client.get("/nowhere", headers={"accept": "text/html,*/*", "accept-language": "zh-CN"})
        assert answer.status_code == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert '<a href="/">' in answer.text
        assert "这里什么也没有" in answer.text
        for path, accept in (("/nowhere", "*/*"), ("/api/nowhere", "text/html")):
            other = await client.get(path, headers={"accept": accept})
            assert code_of(other) == ("unknown_path" if token else "unauthenticated")
