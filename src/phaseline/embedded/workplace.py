"""A workplace whose executions this process may run itself: it owns the store where nobody else does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.app_context import Workplace

if TYPE_CHECKING:
    from phaseline.app.settings import Settings
    from phaseline.views.background import Background


def make_workplace(settings: Settings, command: str, *, background: bool = False) -> Workplace:
    """One that its user closes. ``background``: a background engine is started for what is open when this process leaves."""
    return Workplace(settings, command, launch_engine if background else None, ports=_ports)


@contextmanager
def workplace(settings: Settings, command: str | None = None, *, background: bool = False) -> Iterator[Workplace]:
    """A workplace that is closed in the end. ``command`` defaults to the words this process was started with."""
    from phaseline.app.engine_log import without_values

    program = Path(sys.argv[0]).name.replace("__main__.py", "phaseline")
    place = make_workplace(settings, command or without_values([program, *sys.argv[1:]]), background=background)
    try:
        yield place
    finally:
        place.close()


def launch_engine(place: Workplace) -> Background | None:
    """Start a background engine for the store of this workplace."""
    from phaseline.app.background_engine import launch

    return launch(place)


def _ports() -> Sequence[object]:
    """Read when the first command has stored something: most commands only look."""
    from phaseline.embedded.run_execution import conduct
    from phaseline.use_cases.lookup.ticket import Conductor

    return (Conductor(conduct, _settle),)


def _settle(place: Workplace, requests: Sequence[int]) -> None:
    from phaseline.embedded.settle_requests import settle

    settle(place, requests)
