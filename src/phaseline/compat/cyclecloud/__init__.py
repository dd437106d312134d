"""Runs phase plugins of CycleCloud unchanged, as the CycleCloud document (source 1) describes them.

Provides the plugin's handler and its resources, and turns the plugin's marks on them into outcomes.
"""
