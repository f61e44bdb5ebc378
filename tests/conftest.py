"""Hypothesis plays the same bounded examples every time; MOOT_EXPLORE=1 looks for new ones."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "moot",
    derandomize="MOOT_EXPLORE" not in os.environ,
    deadline=None,  # machines are noisy
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=100,
    database=None,
)
settings.load_profile("moot")
