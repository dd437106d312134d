"""Reads phase plugins in every form in which they are written, without running any code, into ``PhasePlugin`` values.

``module_source`` reads Python text, ``definitions`` reads records, and ``decorated_phases`` reads decorators.
``phase_packages`` groups files to packages, ``plugin_set`` decides which versions are active, and ``function_loader``
imports functions when they are called.
"""
