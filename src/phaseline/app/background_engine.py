"""The background engine: a process in a session of its own, which continues when the terminal is closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.app.app_context import AppContext
    from phaseline.app.settings import Settings
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.views.background import Background

COMMAND = ("--config", os.devnull, "engine", "run", "--until-idle", "--awaits-approvals")
"""Arguments of the background process: it uses the passed settings, not a settings file in its working folder.

It stays while an approval is pending, so that the execution continues as soon as it is approved."""


PROGRAM_FOLDER = str(Path(__file__).resolve().parents[2])
"""The folder of this program, which may run from its own sources."""


def launch(app: AppContext) -> Background | None:
    """Start a background engine for the same store with the same settings; return it.

    Return None if the store exists only in the memory of this process.
    """
    import subprocess

    from phaseline.views.background import Background

    if app.settings.store_url == "memory:":
        return None
    environment = environment_of(app.settings, os.environ, sys.path)
    log = _log_file(app, environment)
    handle, is_kept = _open(log)
    begins = os.fstat(handle).st_size
    try:
        # ``-P``: files in the current folder must not be imported as modules.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "phaseline", *COMMAND],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise died(str(error)) from error
    finally:
        os.close(handle)
    process.returncode = 0  # it outlives us: Python shall neither wait for it nor warn of a child that still runs
    return Background(process.pid, str(log) if is_kept else "", begins)


def died(words: str) -> ProblemsError:
    """Return PL-S015: the background engine ended before it began its work. ``words``: its last output."""
    message = "the engine in the background ended at once" + (f": {words}" if words else " without a message")
    return problem_error(
        "PL-S015", message, "correct the reported fault, then continue the stored request: phaseline engine run"
    )


def environment_of(settings: Settings, environment: Mapping[str, str], searched: Sequence[str]) -> dict[str, str]:
    """Return the environment for a process with the settings of this process and the folders of its code.

    ``searched``: the module path of this process. A hook class may be in the folder of the program that names it, which
    is on the module path before Python's own folders. The master key is not passed; it stays in its file, which the
    settings name.
    """
    own = [str(Path(folder).absolute()) for folder in takewhile(_is_own, searched)]
    known = environment.get("PYTHONPATH", "").split(os.pathsep)
    here = str(Path.cwd())
    beside = [one for one in own if one != here or one == PROGRAM_FOLDER]
    path = os.pathsep.join(dict.fromkeys((*filter(None, known), *beside)))
    return {**environment, **settings.variables(), **({"PYTHONPATH": path} if path else {})}


def _is_own(folder: str) -> bool:
    """Return True for a folder outside of the Python installation: other processes of this Python do not search it."""
    path = Path(folder).absolute()
    return not any(Path(base).absolute() in (path, *path.parents) for base in (sys.prefix, sys.base_prefix))


def _log_file(app: AppContext, environment: Mapping[str, str]) -> Path:
    """Return the file for the output of a background engine: the engine log, if it is in text format.

    Otherwise return a file in the user's state folder.
    """
    settings = app.settings
    if settings.log_file and settings.log_format == "text":
        return Path(settings.log_file)
    home = environment.get("XDG_STATE_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".local" / "state")
    return Path(home).absolute() / "phaseline" / f"engine-{app.store.identity()}.log"


def _open(log: Path) -> tuple[int, bool]:
    """Open the log file for appending, readable only by its user; return (file descriptor, True).

    If that fails, return (descriptor of the null device, False).
    """
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), True
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), False
