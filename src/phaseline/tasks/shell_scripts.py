"""POSIX shell scripts that hosts run: start a command, receive files, end remaining processes.

A shell is started with ``BOOT`` and then reads its script as one line from its standard input, so that no command, file
name or variable is visible in a list of processes. What follows this line in the input depends on the script. For a
command (``lived``) nothing follows: the open input is the *line* that keeps the command running. For files
(``received``) it is their content.
"""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Mapping

BOOT = 'IFS= read -r script && eval "$(printf %s "$script" | base64 -d)"'
"""Command with which a shell is started: it reads one line of its input and runs it as a script.

It reads byte by byte, so that the rest of the input is left to the script.
"""
MARK = "PHASELINE_TASK"
"""Environment variable by which all processes are found that a command has started."""
GRACE_S = 5
"""Seconds between SIGTERM and SIGKILL when processes are ended."""

# What leads its group is named as a process, too: before it leads, it has no group and not yet the mark.
_FAMILY = """
family() {
    for file in $(grep -lsF -- "$mark" /proc/[0-9]*/environ 2>/dev/null); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}
end() {
    found=$(family)
    [ -z "$found$1" ] && return
    kill -s "$2" -- $found ${1:+$1 -$1} 2>/dev/null
    looked=0
    while [ -n "$(family)" ] && [ "$looked" -lt "$((20 * $3))" ]; do
        looked=$((looked + 1))
        sleep 0.05 2>/dev/null || { sleep 1; looked=$((looked + 19)); }
    done
    [ "$2" = KILL ] || end "$1" KILL 5
}
"""

_LIVED = """
exec 3<&0 </dev/null
end '' KILL 5
(
    {exports}
    exec setsid sh -c "$command"
) 3<&- &
leader=$!
( read -r word <&3; trap '' TERM; end "$leader" TERM "$grace" ) >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$leader"
code=$?
kill "$watch" 2>/dev/null
wait "$watch" 2>/dev/null
exit "$code"
"""

_RECEIVED = """
mkdir -p {folder} && cd {folder} || exit 1
rm -f {sign}
{take} && {{ [ -z {sign} ] || : > {sign}; }}
"""


def encoded(script: str) -> bytes:
    """Encode a script as the line that ``BOOT`` reads."""
    return b64encode(script.encode("utf-8", "surrogateescape")) + b"\n"


def lived(
    command: str,
    *,
    mark: str,
    folder: str,
    sign: str = "",
    missing: str = "",
    cwd: str = "",
    environment: Mapping[str, str] | None = None,
    grace_s: int = GRACE_S,
) -> str:
    """Return a script that runs a command, ends it when the shell's input is closed, and exits with its exit code.

    The script first ends processes of an earlier attempt, which have the same ``mark``. It creates ``folder`` if
    necessary. If ``sign`` is given and the folder has no file of this name, the script writes ``missing`` to standard
    error and runs nothing.
    """
    exports = [f"export {name}={shlex.quote(value)}" for name, value in {**(environment or {}), MARK: mark}.items()]
    return "\n".join(
        [
            f"mark={shlex.quote(f'{MARK}={mark}')}; grace={grace_s}; command={shlex.quote(command)}",
            f"mkdir -p {shlex.quote(folder)} && cd {shlex.quote(folder)} || exit 126",
            f"[ -z {shlex.quote(sign)} ] || [ -f {shlex.quote(sign)} ] || {{ echo {shlex.quote(missing)} >&2; exit 1; }}",
            f"cd {shlex.quote(cwd)} || exit 126" if cwd else "",
            _FAMILY,
            _LIVED.replace("{exports}", "\n    ".join(exports)),
        ]
    )


def received(folder: str, take: str, sign: str = "") -> str:
    """Return a script that unpacks its input into a folder with the command ``take``.

    ``sign`` is a file that the script creates at the end, to mark the folder as complete.
    """
    return _RECEIVED.format(folder=shlex.quote(folder), take=take, sign=shlex.quote(sign))
