"""The demonstration: four acts with real processes, in which every claim is checked and decides the exit code."""

from phaseline.demo.acts import run_demo

__all__ = ["run_demo"]
