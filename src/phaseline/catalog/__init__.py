"""Finds plugin code: reads what functions say of themselves without running them, imports them when they are called."""

from phaseline.catalog.plugin_catalog import PluginCatalog

__all__ = ["PluginCatalog"]
