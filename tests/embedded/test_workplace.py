"""A workplace that runs executions itself: what it is given, and when."""

import subprocess
import sys

from phaseline.app.settings import Settings
from phaseline.embedded.run_execution import conduct
from phaseline.embedded.workplace import launch_engine, make_workplace, workplace
from phaseline.use_cases.lookup.ticket import Conductor

LOADED = """
import sys
from phaseline.app.settings import Settings
from phaseline.embedded.workplace import workplace
with workplace(Settings("memory:"), "a test") as place:
    print(place.store.executions(), "phaseline.embedded.run_execution" in sys.modules)
"""


def test_its_conductor_runs_executions_in_this_process() -> None:
    with workplace(Settings("memory:"), "a test") as place:
        assert place.port(Conductor).conduct is conduct
        assert place.command == "a test"


def test_who_only_looks_does_not_load_what_runs_executions() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"


def test_a_background_engine_is_started_only_where_it_is_wanted() -> None:
    assert make_workplace(Settings("memory:"), "a test").launch is None
    assert make_workplace(Settings("memory:"), "a test", background=True).launch is launch_engine
