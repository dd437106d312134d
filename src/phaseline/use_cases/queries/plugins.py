"""Show one plugin of any kind: a package if a package has the name, otherwise another plugin with the name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.use_cases.lookup.installed_packages import installed_rows
from phaseline.use_cases.queries.packages.find_package import read_name
from phaseline.use_cases.queries.packages.listing import PackageView, show_package
from phaseline.use_cases.queries.phases import PluginView, show_plugin

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


def show_any(ctx: RequestContext, name: str, plugin_folders: Sequence[str] = ()) -> PackageView | PluginView:
    """Return the package or other plugin with this name.

    Raises: PL-F062 for a package version that is not installed, PL-D054 for any other unknown name.
    """
    named = read_name(name)
    if named is not None and (named[1] or any(row.name == named[0] for row in installed_rows(ctx))):
        return show_package(ctx, name)
    return show_plugin(ctx, name, plugin_folders)
