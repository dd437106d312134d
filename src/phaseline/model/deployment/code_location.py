"""The folders with a deployment's code: blueprint, plugins and packages."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import frozen


@frozen
class CodeLocation:
    """The folders to search for code, stored with the deployment, so that any engine process can continue it.

    ``blueprint_folder`` absolute; ``plugin_folders`` absolute, in search order. ``imported``: (namespace, absolute folder)
    of each stored blueprint that is imported under one. ``packages``: absolute folders of the plugin packages that the
    deployment uses; a store keeps them with these, so that they are other ones when a package is updated.
    """

    blueprint_folder: str
    plugin_folders: tuple[str, ...] = ()
    imported: tuple[tuple[str, str], ...] = ()
    packages: tuple[str, ...] = ()
