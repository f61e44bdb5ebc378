"""Where sessions are kept: a log object, a folder, a URL, or the store of an installed package."""

from pathlib import Path

import pytest

import moot
from moot.core.errors import ConfigError
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.sqlite import SqliteStore
from moot.runtime.stores.store import find_store
from tests.cli.command import Moot
from tests.extensions.conftest import Install
from tests.runtime.apps import TRIO, names, run, say

SHELF = """
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.ports import Store

LOGS = {}

class Shelf(Store):
    def __init__(self, url):
        self.url = url

    def __str__(self):
        return self.url

    async def open(self, *, read_only=False):
        log = LOGS.setdefault(self.url, MemoryLog())

        async def keep():
            pass

        log.close = keep
        return log

ENTRY = Shelf
"""


@run
async def test_a_log_that_is_passed_in_stays_open() -> None:
    """Who opened the log closes it: two apps may share one, after each other."""
    log = MemoryLog()
    async with moot.open(TRIO, store=log) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] hello")
    async with moot.open(TRIO, store=log) as app:
        assert "turn.completed" in await names(app, await app.session(session.id))


@pytest.mark.parametrize("form", ["{}", "sqlite:{}", "sqlite:{}/moot.db"])
def test_a_folder_and_its_url_name_the_same_sessions(tmp_path: Path, form: str) -> None:
    """A path without a scheme is a folder with an SQLite file in it."""

    @run
    async def play() -> None:
        async with moot.open(TRIO, data=tmp_path) as app:
            session = await app.session()
        async with moot.open(TRIO, store=form.format(tmp_path)) as app:
            assert (await app.session(session.id)).id == session.id

    play()


@run
async def test_the_data_folder_stays_this_nodes_own(tmp_path: Path) -> None:
    """With a store of its own, no sessions are written to the data folder."""
    async with moot.open(TRIO, data=tmp_path / "data", store=tmp_path / "log") as app:
        await app.session()
    assert (tmp_path / "log" / "moot.db").exists()
    assert not (tmp_path / "data" / "moot.db").exists()


@pytest.mark.parametrize("address", ["memory", "sqlite", "postgresql"])
def test_a_kind_of_store_is_no_folder(address: str) -> None:
    """The name of a kind alone is a slip that would leave a log in the current folder; that folder is `./memory`."""
    with pytest.raises(ConfigError, match=rf"names a kind of store, .* \./{address} for a folder"):
        find_store(address)
    assert isinstance(find_store(f"./{address}"), SqliteStore)


def test_an_unknown_scheme_names_those_there_are(tmp_path: Path) -> None:
    """A folder with a colon in its name is reached as a path object or with ./ before it."""
    with pytest.raises(
        ConfigError, match=r"no store for redis:; there are memory:, sqlite:, postgresql:, postgres:; .*\./redis:x"
    ):
        find_store("redis:x")
    assert isinstance(find_store("./redis:x"), SqliteStore)
    assert isinstance(find_store(Path("redis:x")), SqliteStore)
    with pytest.raises(ConfigError, match="names no folder"):
        find_store("sqlite:")


@run
async def test_an_installed_store_is_found_by_its_scheme(install: Install) -> None:
    """One entry point makes `moot.open(store="shelf://…")` work."""
    install("moot.stores", "shelf", SHELF)
    async with moot.open(TRIO, store="shelf://upper") as app:
        session = await app.session()
        await say(session, "[NEXT: bob] hello")
    async with moot.open(TRIO, store="shelf://upper") as app:
        assert (await app.session(session.id)).id == session.id


def test_every_command_reads_and_writes_an_installed_store(
    install: Install, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--store` and $MOOT_STORE reach it from the command line; nothing of it is in the data folder."""
    install("moot.stores", "shelf2", SHELF)
    assert moot("run", "chat-demo", "--say", "hello", "--store", "shelf2:a").code == 0
    [listed] = moot("sessions", "list", "--json", "--store", "shelf2:a").objects
    assert (
        moot("sessions", "verify", "--store", "shelf2:a").out == f"{listed['session_id']}: ok, {listed['seq']} events\n"
    )
    monkeypatch.setenv("MOOT_STORE", "shelf2:a")
    assert moot("sessions", "fork", listed["session_id"]).code == 0
    assert "2 with" in moot("doctor", "--port", "0").out
    assert moot("doctor", "--repair").code == 0
    assert not (moot.data / "moot.db").exists()


@run
async def test_a_broken_package_is_named(install: Install) -> None:
    """The sentence says which package declares what, and why it cannot be loaded."""
    install("moot.stores", "broken", "import nowhere_to_be_found")
    with pytest.raises(ConfigError, match=r"moot-broken declares moot.stores entry 'broken', .*nowhere_to_be_found"):
        find_store("broken:x")


def test_what_gives_no_store_is_refused(install: Install) -> None:
    """An entry that is something else fails at once, with its name."""
    install("moot.stores", "odd", "ENTRY = str")
    with pytest.raises(ConfigError, match="entry 'odd' returned str; it must return a Store"):
        find_store("odd:x")


def test_a_mistyped_url_is_not_repeated() -> None:
    """It may have a password."""
    with pytest.raises(ConfigError, match=r"no store for postgre:; .* is written \./postgre:…$"):
        find_store("postgre://moot:secret@db.example/moot")
