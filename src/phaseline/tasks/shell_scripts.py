"""Scripts in POSIX shell for hosts: start a command, receive files, end remaining processes.

A shell is started with ``BOOT`` and gets its script as one line on its standard input, so that no command, file name or
variable is visible in a list of processes. The input after this line is either the *line* that keeps a command running
(``lived``) or the content of files (``received``).
"""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Mapping

BOOT = 'IFS= read -r script && eval "$(printf %s "$script" | base64 -d)"'
"""What a shell is started with: it reads its script, byte by byte, and leaves the rest of its input to it."""
MARK = "PHASELINE_TASK"
"""The variable by which everything that a command has started is found."""
GRACE_S = 5
"""Time between SIGTERM and SIGKILL."""

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
    """A script as the line that ``BOOT`` reads."""
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
    """A script for a command that runs only while the shell's input is open; its exit code becomes the shell's.

    Processes of an earlier attempt with the same ``mark`` are ended first. ``folder`` is created if needed; if it does not
    contain the file ``sign`` (empty: no check), ``missing`` is written to standard error and nothing is run.
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
    """Unpack the input into a folder by the command ``take``; ``sign`` is the file that marks it as complete."""
    return _RECEIVED.format(folder=shlex.quote(folder), take=take, sign=shlex.quote(sign))
