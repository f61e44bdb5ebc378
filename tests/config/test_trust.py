"""Trust is given to a folder, for exactly the commands that were shown."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from moot.config.private_files import keep_secret
from moot.config.trust import FILE, NotTrusted, Start, TrustStore

RUN = Start(member="bob", argv=("./run.sh", "--fast"))


def test_trust_is_for_a_folder_and_its_commands(tmp_path: Path) -> None:
    """The same command elsewhere, another one here, another folder or variable for it: each is asked about."""
    store, here, there = TrustStore(tmp_path / "data"), tmp_path / "here", tmp_path / "there"
    assert store.find_untrusted(here, [RUN]) == [RUN]
    store.add(here, [RUN])
    assert TrustStore(tmp_path / "data").find_untrusted(here, [RUN]) == []
    assert store.find_untrusted(there, [RUN]) == [RUN]
    for other in (
        Start(member="bob", argv=("./run.sh",)),
        Start(member="bob", argv=("./run.sh --fast",)),
        Start(member="bob", argv=RUN.argv, folder="sub"),
        Start(member="bob", argv=RUN.argv, names=("MY_KEY",)),
    ):
        assert store.find_untrusted(here, [RUN, other]) == [other]
    assert store.find_untrusted(here, [Start(member="carol", argv=RUN.argv)]) == []


def test_windows_that_ask_at_once_lose_nothing(tmp_path: Path) -> None:
    """Trust that is given in several windows at the same moment is all kept, and they find the same secret."""
    folders = [tmp_path / str(number) for number in range(16)]
    together = Barrier(len(folders))

    def trust(folder: Path) -> bytes:
        together.wait()
        TrustStore(tmp_path).add(folder, [RUN])
        return keep_secret(tmp_path / "secret")

    with ThreadPoolExecutor(len(folders)) as windows:
        secrets = set(windows.map(trust, folders))
    assert secrets == {(tmp_path / "secret").read_bytes().strip()}
    assert {entry.folder for entry in TrustStore(tmp_path).read()} == {str(folder) for folder in folders}


def test_trust_grows_and_is_taken_back(tmp_path: Path) -> None:
    """What is added joins what was there; removing takes the whole folder."""
    store, other = TrustStore(tmp_path), Start(member="carol", argv=("x",))
    store.add(tmp_path, [RUN])
    store.add(tmp_path, [other, RUN])
    assert [entry.starts for entry in store.read()] == [(RUN, other)]
    assert store.remove(tmp_path)
    assert not store.remove(tmp_path)
    assert store.find_untrusted(tmp_path, [RUN]) == [RUN]


def test_a_link_leads_to_the_same_folder(tmp_path: Path) -> None:
    """The folder counts, not the way to it; a link that is turned elsewhere is another folder."""
    store = TrustStore(tmp_path / "data")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    store.add(link, [RUN])
    assert store.find_untrusted(tmp_path / "a", [RUN]) == []
    link.unlink()
    link.symlink_to(tmp_path / "b")
    assert store.find_untrusted(link, [RUN]) == [RUN]


def test_a_broken_store_trusts_nobody(tmp_path: Path) -> None:
    """Half a file is no permission."""
    store = TrustStore(tmp_path)
    store.add(tmp_path, [RUN])
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    (tmp_path / FILE).write_text('[{"folder": ')
    assert store.find_untrusted(tmp_path, [RUN]) == [RUN]
    store.add(tmp_path, [RUN])
    assert store.find_untrusted(tmp_path, [RUN]) == []


def test_a_refusal_shows_what_would_run(tmp_path: Path) -> None:
    """The exact argv on one line, quoted as it would be typed, safe for a terminal, and how to allow it."""
    hostile = Start(member="bob", argv=("./p\x1b[2Jwn", "a b", "c\nd"), folder="sub", names=("KEY",))
    said = str(NotTrusted("team file.yaml", [hostile, RUN]))
    assert "  bob: './pwn' 'a b' 'c\\nd'  (in sub)  (sees KEY)\n" in said
    assert "  bob: ./run.sh --fast\n" in said
    assert said.endswith("moot trust 'team file.yaml'")
    assert "\x1b" not in said


@pytest.mark.parametrize("word", ["; rm -rf ~", "$(x)", "`x`", "a'b"])
def test_shown_words_keep_their_bounds(word: str) -> None:
    """What is shown reads back as the same words: nothing hides in a blank or a quote."""
    import shlex

    assert shlex.split(str(Start(member="m", argv=("x", word))).partition(": ")[2]) == ["x", word]
