"""Where Moot keeps what belongs to the user: sessions and tokens in the data folder, settings in a file."""

import os
from pathlib import Path


def find_data_folder() -> Path:
    """`$MOOT_DATA`, else moot in the user's data folder."""
    if os.environ.get("MOOT_DATA"):
        return Path(os.environ["MOOT_DATA"])
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "moot"


def find_settings_file() -> Path:
    """`$MOOT_CONFIG`, else moot/config.yaml in the user's configuration folder."""
    if os.environ.get("MOOT_CONFIG"):
        return Path(os.environ["MOOT_CONFIG"])
    return find_config_folder() / "config.yaml"


def find_trees_folder() -> Path:
    """Where members' trees lie: below the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moot" / "trees"


def find_config_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "moot"
