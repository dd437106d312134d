"""The Python API: the client that ``phaseline.open()`` returns."""
