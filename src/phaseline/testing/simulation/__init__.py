"""Simulate whole lives of applications on a virtual clock, with topologies, plugins, users, faults and crashes from a seed.

``simulate(seed)`` runs the real loop over a real store with a simulated executor. It raises ``Broken`` with the events
so far if something happens that must never happen. Equal seeds give equal events.
"""

from phaseline.testing.simulation.world import Broken, Story, simulate

__all__ = ["Broken", "Story", "simulate"]
