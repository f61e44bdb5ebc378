"""The data folder: on a machine with several people it is used by one of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.errors import Unusable
from moot.runtime.private_folder import make_private
from tests.runtime.apps import TRIO, run


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.usefixtures("no_umask")
@run
async def test_nobody_else_may_write_below_the_data_folder(tmp_path: Path) -> None:
    """Even if somebody made it for everybody, and without a umask: another user would put a log or a socket there."""
    data = tmp_path / "data"
    data.mkdir(mode=0o777)
    async with open_app(TRIO, data=data) as app:
        session = await app.session()
        await app.files.put(session.id, b"a note", "a.txt")
        open_to_others = [path for path in (data, *data.rglob("*")) if mode_of(path) & 0o022]
    assert open_to_others == []


@pytest.mark.usefixtures("no_umask")
def test_what_others_may_read_stays_as_it_is(tmp_path: Path) -> None:
    """A folder of somebody's project is not closed to their colleagues."""
    folder = tmp_path / "project"
    folder.mkdir(mode=0o775)
    make_private(folder)
    assert mode_of(folder) == 0o755
    make_private(folder / "new" / "data")
    assert mode_of(folder / "new" / "data") == 0o700


@pytest.mark.usefixtures("no_umask")
def test_a_folder_that_is_meant_for_everybody_is_refused(tmp_path: Path) -> None:
    """As /tmp is: its mode is not changed, and whoever owns it can put anything there."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(Unusable, match="everybody may write in"):
        make_private(shared)
    assert mode_of(shared) == 0o1777


@pytest.mark.usefixtures("no_umask")
def test_a_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner has decided who may use it; it is refused only if that is everybody."""
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o770)
    monkeypatch.setattr(os, "geteuid", lambda: theirs.stat().st_uid + 1)
    make_private(theirs)
    assert mode_of(theirs) == 0o770
    theirs.chmod(0o777)
    with pytest.raises(Unusable, match="everybody may write in"):
        make_private(theirs)
