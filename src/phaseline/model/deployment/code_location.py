"""The folders that contain a deployment's code: its blueprint, plugins and packages."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import frozen


@frozen
class CodeLocation:
    """The folders to search for code. They are stored with the deployment, so that any engine process can run it.

    ``blueprint_folder`` and ``plugin_folders`` are absolute, the latter in search order. ``imported`` has (namespace,
    absolute folder) of each stored blueprint imported under a namespace. ``packages`` has the absolute folders of the
    plugin packages that the deployment uses; an update of a package changes them.
    """

    blueprint_folder: str
    plugin_folders: tuple[str, ...] = ()
    imported: tuple[tuple[str, str], ...] = ()
    packages: tuple[str, ...] = ()
