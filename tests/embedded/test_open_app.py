"""A workplace that runs executions itself: what it is given, and when."""

import subprocess
import sys

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import launch_engine, open_app, open_context
from phaseline.embedded.run_execution import conduct
from phaseline.use_cases.lookup.ticket import Conductor

LOADED = """
import sys
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
with open_context(Settings("memory:"), "a test") as place:
    print(place.store.executions(), "phaseline.embedded.run_execution" in sys.modules)
"""


def test_its_conductor_runs_executions_in_this_process() -> None:
    with open_context(Settings("memory:"), "a test") as ctx:
        assert ctx.app.port(Conductor).conduct is conduct
        assert ctx.app.command == "a test"


def test_who_only_looks_does_not_load_what_runs_executions() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"


def test_a_background_engine_is_started_only_where_it_is_wanted() -> None:
    assert open_app(Settings("memory:"), "a test").launch is None
    assert open_app(Settings("memory:"), "a test", background=True).launch is launch_engine
