"""Runs hook classes that were written for Heat unchanged, without an installed Heat."""
