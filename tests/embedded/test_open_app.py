"""A process that runs executions itself: what it is given, and when."""

import subprocess
import sys

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import launch_engine, open_app

LOADED = """
import sys
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
with open_context(Settings("memory:"), "a test") as place:
    print(place.store.executions(), "phaseline.embedded.run_execution" in sys.modules)
"""


def test_who_only_looks_does_not_load_what_runs_executions() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"


def test_a_background_engine_is_started_only_where_it_is_wanted() -> None:
    assert open_app(Settings("memory:"), "a test").launch is None
    assert open_app(Settings("memory:"), "a test", background=True).launch is launch_engine
