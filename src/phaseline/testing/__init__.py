"""The public kit for tests of plugins, blueprints and the engine itself.

``fake_item``, ``fake_batch`` and ``call`` for the functions of a plugin; ``load_phase`` for the phase of a pair of files;
``crash_points`` for those that may be repeated;
``rehearse`` for the order in which a workflow calls them; ``simulate`` for everything at once, drawn from a seed;
``VirtualClock`` for tests that need the time. A simulated cloud in a process of its own is in ``fake_cloud``, blueprints
without YAML in ``builders``.
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
