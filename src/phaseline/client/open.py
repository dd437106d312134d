"""``phaseline.open()``: a client for a program."""

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
    """Everything that a user can do, over the store at ``url`` (None: as the settings say; ``memory:``: nothing is kept).

    ``plugins``: folders with modules of plugins, searched first. ``config``: a settings file. ``settings``: {name: text}
    as on the page about settings, such as ``{"run.threads": "4"}``. ``background``: whether a background engine is
    started for what is open when a call with ``detach`` returns. Close it, or use it as a context manager.

    Raises: ``ProblemsError`` with everything that is wrong with the settings. The store is opened by its first use.
    """
    given = {**(settings or {}), **({"store.url": url} if url is not None else {})}
    loaded = load_settings(config=config, given=given)
    folders = tuple(str(Path(folder).absolute()) for folder in plugins)
    loaded = altered(loaded, plugin_folders=(*folders, *loaded.plugin_folders))
    program = Path(sys.argv[0]).name or "python"
    return LocalClient(open_app(loaded, program, background=background), checks_arguments=True)
