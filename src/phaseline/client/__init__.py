"""The Python API, ``phaseline.open()``."""
