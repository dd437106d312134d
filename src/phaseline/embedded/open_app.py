"""Open an embedded store: this process owns the store and runs the engine unless another process does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.app_context import AppContext

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings
    from phaseline.views.background import Background


def open_app(settings: Settings, command: str, *, background: bool = False) -> AppContext:
    """Return the context of this process, which the caller must close.

    ``background``: if there is open work when this process stops, start a background engine for it.
    """
    return AppContext(settings, command, launch_engine if background else None)


@contextmanager
def open_context(
    settings: Settings, command: str | None = None, *, background: bool = False
) -> Iterator[RequestContext]:
    """Open a context with a request context for the user of this process.

    ``command``: the command line by which other processes name this one; None: that of the process. ``background``: as
    for ``open_app``.
    """
    from phaseline.app.engine_log import without_values

    program = Path(sys.argv[0]).name.replace("__main__.py", "phaseline")
    app = open_app(settings, command or without_values([program, *sys.argv[1:]]), background=background)
    try:
        yield app.request()
    finally:
        app.close()


def launch_engine(app: AppContext) -> Background | None:
    """Start a background engine for the store of this process."""
    from phaseline.app.background_engine import launch

    return launch(app)
