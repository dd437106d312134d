"""The task runners, one for each type of task. Their inputs are described in ``model.packages.task_inputs``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.calls.protocol.call import COMPLETED, Outcome
from phaseline.model.graph.plugin_errors import NonRecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.tasks.decorator import task
from phaseline.tasks.folder_bundle import UNPACK, bundle_of

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.tasks.remote_shell import Ended
    from phaseline.tasks.task import Task

CANNOT_START = (126, 127)
"""Exit codes by which a shell reports that the program could not be started (decision 6)."""
PUPPET_PATH = "/opt/puppetlabs/bin"
"""Folder in which Puppet's own installation packages put the program."""
CHANGED = 2
"""Exit code of Puppet after a successful run that changed something."""
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
"""Command that prints the id of the current boot, which is different after each boot."""
BOOT_KEY = "phaseline_boot_id"
"""Runtime property that stores the boot id from before a reboot."""
LOOK_AGAIN_S = 5.0
"""Seconds between two checks whether a machine has rebooted."""


@task(repeatable=True)
async def shell(task: Task) -> Outcome:
    """Run ``cmd`` in the folder of the package's scripts."""
    return judged(task, await task.command(task.text("cmd")))


@task(repeatable=False)
async def shell_once(task: Task) -> Outcome:
    """Run ``cmd`` as ``shell`` does. This type is for commands that must not be repeated after a crash."""
    return judged(task, await task.command(task.text("cmd")))


@task(repeatable=True)
async def puppet(task: Task) -> Outcome:
    """Apply ``puppet_manifest`` with ``puppet_modules``.

    The task fails if Puppet fails or cannot apply one of its resources.
    """
    manifest, modules = shlex.quote(task.text("puppet_manifest")), shlex.quote(task.text("puppet_modules"))
    ended = await task.command(
        f"PATH=$PATH:{PUPPET_PATH}; command -v puppet >/dev/null || exit 127; "
        f"exec puppet apply --detailed-exitcodes --modulepath={modules} {manifest}"
    )
    if ended.code == CANNOT_START[1] and not ended.is_late:
        return task.failed(
            f"puppet is not installed on {task.place.name}: install it there before, by a task or an image"
        )
    return COMPLETED if ended.code == CHANGED and not ended.is_late else judged(task, ended)


@task(repeatable=True)
async def upload_file(task: Task) -> Outcome:
    """Write ``data`` to the file ``path``, which is replaced as a whole.

    ``permissions``: octal digits such as ``0600``.
    """
    data = task.parameters.get("data")
    content = (data if isinstance(data, str) else "").encode()
    await _write(task, content, task.text("path"), _mode(task, "permissions"))
    return COMPLETED


@task(repeatable=True)
async def copy_files(task: Task) -> Outcome:
    """Copy each {src, dst} of ``files`` to the host; a relative ``src`` is in the package's folder."""
    files = task.parameters.get("files")
    if not isinstance(files, list):
        raise NonRecoverableError("its parameter 'files' is no list")
    for entry in files:
        if not isinstance(entry, dict):
            raise NonRecoverableError("an entry of its parameter 'files' has no src and dst")
        source, target = _source(task, str(entry.get("src"))), str(entry.get("dst"))
        mode, folder_mode = _mode(task, "permissions"), _mode(task, "dir_permissions")
        if source.is_dir():
            bundle = bundle_of(source, file_mode=mode, folder_mode=folder_mode)
            await task.send(bundle.content, _there(task, target), UNPACK)
        else:
            await _write(task, source.read_bytes(), target, mode, folder_mode)
    return COMPLETED


@task(repeatable=True)
async def sync(task: Task) -> Outcome:
    """Make the folder ``dst`` on the host equal to the package's folder ``src``.

    Additional files in ``dst`` are removed.
    """
    bundle = bundle_of(_source(task, task.text("src")))
    kept = "\n".join(f"./{name}" for name in sorted(bundle.names, key=str.encode))
    remove = (
        f"{UNPACK} && find . -mindepth 1 | LC_ALL=C sort > ../.phaseline-$$ && "
        f"printf '%s\\n' {shlex.quote(kept)} | LC_ALL=C sort | LC_ALL=C comm -13 - ../.phaseline-$$ | "
        'while IFS= read -r name; do rm -rf -- "$name"; done; code=$?; rm -f ../.phaseline-$$; [ "$code" = 0 ]'
    )
    await task.send(bundle.content, _there(task, task.text("dst")), remove)
    return COMPLETED


@task(repeatable=False)
def python(call: PluginCall) -> Outcome:
    """Call the package's ``function`` (``module:function``) with one item that has ``inputs`` as its inputs."""
    from phaseline.tasks.package_functions import call_own

    return call_own(call)


@task(repeatable=True)
async def note_boot(task: Task) -> Outcome:
    """Store the id of the host's current boot, before a reboot. A reboot of this machine is refused."""
    if task.host is None:
        return task.failed(
            "a reboot of this machine is refused: the task is for instances on hosts that are reached over SSH"
        )
    ended = await task.command(BOOT_ID)
    if ended.code or ended.is_late:
        return judged(task, ended)
    assert task.call.instance is not None
    task.call.instance.runtime_properties[BOOT_KEY] = ended.said.strip()
    return COMPLETED


@task(repeatable=True)
async def await_boot(task: Task) -> Outcome:
    """Complete when the host answers with another boot id than before the reboot; until then, ask for another call."""
    from phaseline.tasks.remote_shell import HostUnreachable

    assert task.call.instance is not None
    properties = task.call.instance.runtime_properties
    limit = task.left_s()
    try:
        ended = await task.command(BOOT_ID)
        is_back = not ended.code and not ended.is_late and ended.said.strip() != properties.get(BOOT_KEY)
    except HostUnreachable as error:
        if error.is_final:
            raise
        is_back = False
    if is_back:
        properties.pop(BOOT_KEY, None)
        return COMPLETED
    delay_s = min(LOOK_AGAIN_S, limit) if limit else LOOK_AGAIN_S
    return Outcome(OutcomeKind.AGAIN, round(1000 * delay_s), f"{task.place.name} is not back yet")


def judged(task: Task, ended: Ended) -> Outcome:
    """Return the task's outcome for the way in which its command has ended."""
    last = "".join(f"\n    {line}" for line in ended.lines)
    said = f"; its last lines:{last}" if last else "; it printed nothing"
    where = f" on {task.place.name}" if task.host is not None else ""
    if ended.is_late:
        return _late(task, said)
    if not ended.code:
        return COMPLETED
    if ended.code < 0:
        return task.failed(f"signal {-ended.code}{where}{said}", retry=True)
    if ended.code in CANNOT_START:
        return task.failed(f"it could not be started{where}: exit code {ended.code}{said}")
    return task.failed(f"exit code {ended.code}{where}{said}", retry=True)


def _late(task: Task, said: str) -> Outcome:
    """Return the outcome of a command that exceeded the time limit of its attempt, or of all attempts together."""
    what = "what it had started was ended" + said
    if task.has_another:
        return task.failed(f"this attempt timed out after {task.attempt_s:g} s; {what}", retry=True)
    return task.failed(f"timed out after {task.total_s:g} s; {what}")


def _source(task: Task, name: str) -> Path:
    """Return the path of a file or folder on this machine; a relative name is in the package's folder."""
    path = task.package_folder / name
    if "://" in name:
        raise NonRecoverableError(
            f"'{name}' is an address; name a file or folder of the package, or an absolute one of this machine"
        )
    if not Path(name).is_absolute() and not path.resolve().is_relative_to(task.package_folder.resolve()):
        raise NonRecoverableError(f"'{name}' leads out of the package")
    if not path.exists():
        raise NonRecoverableError(f"'{path}' does not exist")
    return path


def _there(task: Task, name: str) -> str:
    """Return a path on the task's host; a relative name is below the task's work folder."""
    return name if name.startswith("/") else f"{task.folder}/{name}"


async def _write(task: Task, content: bytes, target: str, mode: int | None, folder_mode: int | None = None) -> None:
    """Write a file under a temporary name and rename it, so that no reader sees an incomplete file."""
    folder, _, name = _there(task, target).rpartition("/")
    new = shlex.quote(f".{name}.phaseline")
    steps = [
        f"chmod {folder_mode:04o} ." if folder_mode is not None else "",
        f"rm -f {new}",
        "umask 077" if mode is not None else "",
        f"cat > {new}",
        f'[ "$(wc -c < {new})" -eq {len(content)} ]',
        f"chmod {mode:04o} {new}" if mode is not None else "",
        f"mv -f {new} {shlex.quote(name)}",
    ]
    await task.send(content, folder or "/", " && ".join(step for step in steps if step))


def _mode(task: Task, key: str) -> int | None:
    value = task.parameters.get(key)
    try:
        return None if value is None else int(str(value), 8)
    except ValueError as error:
        raise NonRecoverableError(
            f"its parameter '{key}' is {value!r}; write four octal digits such as 0644"
        ) from error
