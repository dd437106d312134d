"""Whole lives of applications on a virtual clock, drawn from a seed: topologies, plugins, users, faults and crashes.

``simulate(seed)`` drives the real loop over a real store with a simulated executor, and raises ``Broken`` with the
story so far when something happens that must never happen. The same seed makes the same story.
"""

from phaseline.testing.simulation.world import Broken, Story, simulate

__all__ = ["Broken", "Story", "simulate"]
