"""Which store an address names.

An address is a folder (SQLite keeps the log in it) or a URL, whose scheme is looked up in `moot.extensions.STORES`.
"""

import os
import re

from moot.core.errors import ConfigError
from moot.extensions import STORES
from moot.runtime.ports import Store

Address = str | os.PathLike[str]
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):")  # two letters at least: `C:` is a drive


def find_store(address: Address) -> Store:
    """Return the store at an address. Raises ConfigError if no store has its scheme."""
    text = os.fspath(address)
    if isinstance(address, str) and STORES.is_built_in(text):
        raise ConfigError(
            f"{text!r} names a kind of store, not a place; write {text}:… for the store, ./{text} for a folder"
        )
    match = _SCHEME.match(text) if isinstance(address, str) else None
    scheme, url = (match[1], text) if match else ("sqlite", f"sqlite:{text}")
    make = STORES.find(scheme)
    if make is None:
        known = ", ".join(f"{name}:" for name in STORES.names())
        place = f"{scheme}:…" if "//" in text else text  # a mistyped URL may have a password
        raise ConfigError(f"no store for {scheme}:; there are {known}; a folder of that name is written ./{place}")
    store = make(url)
    if not isinstance(store, Store):
        raise ConfigError(f"the moot.stores entry {scheme!r} returned {type(store).__name__}; it must return a Store")
    return store
