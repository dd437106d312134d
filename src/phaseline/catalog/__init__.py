"""Finds plugin code: reads what functions say of themselves without running them, imports them when they are called."""
