"""Commands on a terminal of their own: what they print there, and answers typed to what they ask."""

import fcntl
import os
import pty
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from select import select

PATIENCE_S = 60
CTRL_C = "\x03"
ROWS, COLUMNS = 40, 160


class OnTerminal:
    """A command that runs on a terminal; ``seen`` is all that it has printed there."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        self.process = process
        self.seen = ""
        self._terminal = terminal
        self._bytes = b""

    def until(self, text: str) -> str:
        """Read on until this was printed since the last time; what was printed until then."""
        begin = len(self.seen)
        until = time.monotonic() + PATIENCE_S
        while text not in self.seen[begin:]:
            assert self._read(), f"ended without {text!r}: {self.seen!r}"
            assert time.monotonic() < until, f"never says {text!r}: {self.seen[-2_000:]!r}"
        return self.seen[begin:]

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self._terminal, keys.encode())

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C until it ends, as people do: Python does not hear one that comes just before it reads from the keyboard."""
        until = time.monotonic() + PATIENCE_S
        self.type(CTRL_C)
        while True:
            if not select([self._terminal], [], [], 1)[0]:
                self.type(CTRL_C)
            elif not self._read():
                return self.process.wait(PATIENCE_S), self.seen
            assert time.monotonic() < until, f"does not hear Ctrl-C: {self.seen[-2_000:]!r}"

    def end(self) -> tuple[int, str]:
        """(exit code, all that was printed)."""
        until = time.monotonic() + PATIENCE_S
        while self._read():
            assert time.monotonic() < until, f"never ends: {self.seen[-2_000:]!r}"
        return self.process.wait(PATIENCE_S), self.seen

    def _read(self) -> bool:
        assert select([self._terminal], [], [], PATIENCE_S)[0], f"silent for {PATIENCE_S} s: {self.seen!r}"
        try:
            got = os.read(self._terminal, 65536)
        except OSError:  # how Linux says that nobody writes to it any more
            return False
        self._bytes += got
        self.seen = self._bytes.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(got)


@contextmanager
def on_terminal(
    *words: str, folder: Path, environment: Mapping[str, str], within: Sequence[str] = ()
) -> Iterator[OnTerminal]:
    """``phaseline`` with these words, its standard streams a terminal. ``within``: the words before it, as of a shell that runs it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    command = [*within, sys.executable, "-m", "phaseline", *words]
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**kept, "TERM": "xterm-256color", **environment},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - so that Ctrl-C reaches it
    )
    os.close(theirs)
    try:
        yield OnTerminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_S)
        os.close(ours)
