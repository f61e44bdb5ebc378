"""Hypothesis plays the same bounded examples every time; MOOT_EXPLORE=1 looks for new ones."""

import os

from hypothesis import settings

settings.register_profile(
    "core", derandomize="MOOT_EXPLORE" not in os.environ, deadline=None, max_examples=100, database=None
)
settings.load_profile("core")
