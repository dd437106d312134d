"""The demonstration: five acts with real processes. Every claim shown is checked; a false one gives exit code 1."""

from phaseline.demo.acts import FOLDER, run_demo

__all__ = ["FOLDER", "run_demo"]
