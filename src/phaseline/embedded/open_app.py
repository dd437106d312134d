"""The context of this process for an embedded store: it owns the store and runs the engine if no other process does."""

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
    """The context of this process, to be closed by the caller.

    ``background``: for open work a background engine is started when this process stops.
    """
    return AppContext(settings, command, launch_engine if background else None)


@contextmanager
def open_context(
    settings: Settings, command: str | None = None, *, background: bool = False
) -> Iterator[RequestContext]:
    """A context manager with a request context of this process's user. ``command``: by default the process's command line."""
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
