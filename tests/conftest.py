"""What all tests share: surroundings, and generated inputs that are the same in every run unless a longer search is asked for.

The default suite draws a few examples of each property, ``make properties`` (``HYPOTHESIS_PROFILE=ci``) many more of the
same fixed sequence, which CI does, too; ``search`` draws new ones each time.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("default", derandomize=True, database=None, deadline=None, max_examples=40)
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=500,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

TERMINAL = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE")
OURS = {"PHASELINE_EXPECT", "PHASELINE_ACCEPT"}
"""Said to tests, not to what they test."""
for name in {name for name in os.environ if name.startswith("PHASELINE_")}.union(TERMINAL) - OURS:
    os.environ.pop(name, None)  # the terminal and the settings of whoever runs the tests are not tested
os.environ["no_proxy"] = "localhost,127.0.0.1"  # servers of tests answer on this machine, whatever proxy it has
