"""The public kit for tests of plugins, blueprints and the engine.

``fake_item``, ``fake_batch`` and ``call`` test functions of a plugin; ``load_phase`` loads a phase from its files.
``crash_points`` tests functions that may be repeated. ``rehearse`` shows the order in which a workflow makes
calls. ``simulate`` runs the whole engine with random events from a seed. ``VirtualClock`` is for tests that need the
time. ``fake_cloud`` is a simulated cloud in its own process; ``builders`` makes blueprints without YAML.
"""

from phaseline.testing.clock import VirtualClock
from phaseline.testing.crash_points import CrashPoint, crash_points
from phaseline.testing.items import FakeBatch, FakeItem, Subject, Tried, call, fake_batch, fake_item
from phaseline.testing.phases import LoadedPhase, load_phase
from phaseline.testing.rehearsal import Called, Rehearsal, Says, completes, fails, rehearse, retries, sleeps
from phaseline.testing.simulation import Broken, Story, simulate

__all__ = [
    "Broken",
    "Called",
    "CrashPoint",
    "FakeBatch",
    "FakeItem",
    "LoadedPhase",
    "Rehearsal",
    "Says",
    "Story",
    "Subject",
    "Tried",
    "VirtualClock",
    "call",
    "completes",
    "crash_points",
    "fails",
    "fake_batch",
    "fake_item",
    "load_phase",
    "rehearse",
    "retries",
    "simulate",
    "sleeps",
]
