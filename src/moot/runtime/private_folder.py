"""The folder of a log, its files and its socket: nobody else may put something of theirs in it."""

import os
import stat
from pathlib import Path

from moot.core.errors import Unusable

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may use, whatever the umask says, or take from others the right to write in it.

    Raises Unusable if it cannot be made, or if everybody may write in it and it is not ours alone to change.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        is_shared = status.st_mode & stat.S_ISVTX  # on purpose, as /tmp is
        if status.st_uid == os.geteuid() and not is_shared:
            if status.st_mode & _OTHERS_WRITE:
                folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
            return
    except OSError as error:
        raise Unusable(f"{folder} cannot be made ({error.strerror}); make it yourself or use --data DIR") from error
    if status.st_mode & stat.S_IWOTH:
        raise Unusable(f"everybody may write in {folder}; make a folder of your own and name it with --data DIR")
