"""The demonstration: five acts with real processes, in which every claim is checked and decides the exit code."""

from phaseline.demo.acts import FOLDER, run_demo

__all__ = ["FOLDER", "run_demo"]
