"""``phaseline.open()``: open a store and return a client for Python programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.settings import load_settings
from phaseline.client.argument_checks import looking
from phaseline.client.local import LocalClient
from phaseline.embedded.open_app import open_app
from phaseline.lang.fast_dataclasses import altered

if TYPE_CHECKING:
    from phaseline.client.client import Client


@looking("open")
def open_phaseline(
    url: str | None = None,
    *,
    plugins: Sequence[str] = (),
    config: str | None = None,
    settings: Mapping[str, str] | None = None,
    background: bool = False,
) -> Client:
    """Return a client of the store at ``url``; None: the store of the settings; ``memory:``: a store in memory.

    ``plugins``: folders with modules of plugins, searched first. ``config``: a settings file. ``settings``: {name:
    text} as in docs/settings.md, such as ``{"run.threads": "4"}``. ``background``: start a background engine for open
    work when a call with ``detach`` returns. Close the client, or use it as a context manager. The store is opened when
    it is first used. Raises: ``ProblemsError`` with every problem of the settings.
    """
    given = {**(settings or {}), **({"store.url": url} if url is not None else {})}
    loaded = load_settings(config=config, given=given)
    folders = tuple(str(Path(folder).absolute()) for folder in plugins)
    loaded = altered(loaded, plugin_folders=(*folders, *loaded.plugin_folders))
    program = Path(sys.argv[0]).name or "python"
    return LocalClient(open_app(loaded, program, background=background), checks_arguments=True)
