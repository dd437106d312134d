"""The context of this process for an embedded store: it owns the store and runs the engine where no other process does."""

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
    """The context of this process, to be closed. ``background``: a background engine is started for what is open when it leaves."""
    return AppContext(settings, command, launch_engine if background else None)


@contextmanager
def open_context(
    settings: Settings, command: str | None = None, *, background: bool = False
) -> Iterator[RequestContext]:
    """A request of the user of this process, which is closed in the end. ``command`` defaults to the words the process was started with."""
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
