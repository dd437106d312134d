"""Units of systemd that start each minute what schedules have due, where no engine runs all the time (SC5)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.background_engine import environment_of
from phaseline.app.store_location import shown_url
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext

ARGUMENTS = ("-P", "-m", "phaseline", "--config", os.devnull, "engine", "run", "--due")
"""Arguments of Python in the unit: it uses the settings in the unit, not a settings file in a working folder."""


@frozen
class TimerUnit:
    """A unit: the name of its file, and its text."""

    name: str
    text: str


@frozen
class TimerUnits:
    """A service and the timer that starts it. ``folder``: where they were written, empty if they were not.

    ``start`` is the command that starts the timer.
    """

    units: Sequence[TimerUnit]
    start: str
    folder: str = ""


def timer_units(ctx: RequestContext, *, install_user: bool = False) -> TimerUnits:
    """Return the units for the store and the settings of this process; ``install_user``: also write them for this user.

    Raises: PL-C147 if the store is in memory, its address has a password, or the files cannot be written.
    """
    settings = ctx.settings
    if settings.store_url == "memory:":
        raise problem_error("PL-C147", "a store in memory ends with its command", "name another one with --store")
    if shown_url(settings.store_url) != settings.store_url:
        message, mend = "the address of the store has a password, which a unit must not have", "use a password file"
        raise problem_error("PL-C147", message, mend)
    name = f"phaseline-schedules-{ctx.store.identity()[:8]}"
    found = units_of(name, [sys.executable, *ARGUMENTS], environment_of(settings, {}, sys.path), settings.store_url)
    start = f"systemctl --user daemon-reload && systemctl --user enable --now {name}.timer"
    return TimerUnits(found, start, _written(found) if install_user else "")


def units_of(
    name: str, command: Sequence[str], environment: Mapping[str, str], store: str
) -> tuple[TimerUnit, TimerUnit]:
    """Return (service, timer) with this name, which call the command each minute."""
    variables = "".join(f"Environment={quoted(f'{key}={value}')}\n" for key, value in sorted(environment.items()))
    called = " ".join(quoted(one).replace("$", "$$") for one in command)
    about = store.replace("%", "%%").replace("\n", " ")
    service = (
        f"[Unit]\nDescription=Start what schedules have due in {about}\n\n"
        f"[Service]\nType=oneshot\n{variables}ExecStart={called}\n"
    )
    timer = (
        f"[Unit]\nDescription=Look each minute what schedules have due in {about}\n\n"
        "[Timer]\nOnCalendar=minutely\nAccuracySec=1s\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    return TimerUnit(f"{name}.service", service), TimerUnit(f"{name}.timer", timer)


def quoted(text: str) -> str:
    r"""Return a text as one argument in a unit, quoted where necessary.

    >>> quoted("engine"), quoted('50% "a b"')
    ('engine', '"50%% \\"a b\\""')
    """
    found = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return found if found and not set(found) & set(" \t\"'\\;") else f'"{found}"'


def _written(units: Sequence[TimerUnit]) -> str:
    """Write the units into the folder of systemd for this user, and return it. Raises: PL-C147."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path(os.environ.get("HOME") or Path.home()) / ".config")
    folder = Path(home).absolute() / "systemd" / "user"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for unit in units:
            (folder / unit.name).write_text(unit.text, encoding="utf-8")
            (folder / unit.name).chmod(0o600)
    except OSError as error:
        raise problem_error("PL-C147", f"{folder} cannot be written: {error.strerror}", "print them instead") from error
    return str(folder)
