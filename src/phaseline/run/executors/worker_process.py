"""The engine's handle of one worker process: start it, give it calls, end it with all its child processes."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from phaseline.calls.protocol.call_codec import write_site
from phaseline.calls.threads.line_buffer import WholeLines
from phaseline.calls.threads.process_groups import GRACE_S, end, plugin_environment
from phaseline.model.problems.problem import ProblemsError
from phaseline.run.executors.assignments import Assignments
from phaseline.run.executors.framing import Closed, Wire, written
from phaseline.run.executors.worker_messages import Attending, TimedOut, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.calls.protocol.call import Site
    from phaseline.calls.protocol.call_codec import Letter
    from phaseline.run.executors.assignments import Assignment
    from phaseline.run.executors.worker_messages import CallOwner

READ_BYTES = 65_536
LAST_WORDS_S = 1.0
"""The least number of seconds that a worker gets to forward the last output of its ended child processes."""
HEARD_OUT_S = 60.0
"""The longest time in seconds for which a killed call is awaited because it still prints output."""
MAX_SITES = 256
"""The most call sites that a worker remembers; then all are forgotten, and sent again when needed."""
PROGRAM = "phaseline.embedded.worker_main"
"""Module that a worker runs. It is not imported here, because it is in a higher layer and has its own callers."""
PREFIXES = ("<out> ", "<err> ")
"""The prefixes that distinguish standard output and standard error in logs (S3)."""


class OutputPipe:
    """Reads a pipe and logs its content line by line."""

    def __init__(self, pipe: Any, prefix: str) -> None:
        """Read ``pipe`` without blocking; ``prefix`` goes before each logged line."""
        os.set_blocking(pipe.fileno(), False)
        self.pipe = pipe
        self._prefix = prefix
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines = WholeLines()

    def end_line(self, log: Callable[[str, str], None]) -> None:
        """Log text that was read without an end of line."""
        for line in self._lines.rest():
            log("info", self._prefix + line)

    def read(self, log: Callable[[str, str], None]) -> bool:
        """Log the complete lines that can be read now. Return False when the pipe has ended."""
        while True:
            try:
                chunk = os.read(self.pipe.fileno(), READ_BYTES)
            except BlockingIOError:
                return True
            except (OSError, ValueError):
                return False  # closed by an engine that leaves at once, which ignores the result
            if not chunk:
                return False
            for line in self._lines.take(self._decoder.decode(chunk)):
                log("info", self._prefix + line)

    def finish(self, log: Callable[[str, str], None]) -> None:
        """Log what can be read, including a last line without an end of line."""
        self.read(log)
        last = self._lines.take(self._decoder.decode(b"", final=True)) + self._lines.rest()
        for line in last:
            log("info", self._prefix + line)


class Worker:
    """A worker process, which ends with the thread that started it. Except ``calls`` and ``kill``, one thread at a time uses it."""

    def __init__(self, catalog: str) -> None:
        """Start the process; ``catalog`` is ``module:class`` of the catalog that it creates."""
        import socket  # most commands start no worker, and need not pay for these two
        import subprocess

        self.calls = Assignments()
        ours, theirs = socket.socketpair()
        passed = theirs.fileno(), self.calls.permits.fileno()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", PROGRAM, *map(str, passed), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=passed,
                start_new_session=True,
                env=_environment(),
            )
        self.wire = Wire(ours)
        pipes = zip((self._process.stdout, self._process.stderr), PREFIXES, strict=True)
        self.outputs = {output.pipe.fileno(): output for output in (OutputPipe(*pipe) for pipe in pipes)}
        self.poll = select.poll()
        for number in (self.wire.fileno(), self.calls.waker, *self.outputs):
            self.poll.register(number, select.POLLIN)
        self._killing: threading.Event | None = None
        self._is_over = threading.Event()
        self._attending: Attending | None = None
        self._count = 0
        """Number of calls given to the worker."""
        self._sites: dict[int, tuple[int, Site]] = {}
        """{id of a site object: (its number in the worker, the site)}. Keeping the object keeps its id unique."""
        self._introduction = {"catalog": catalog, "path": sys.path, "pythonpath": os.environ.get("PYTHONPATH")}
        self.is_ready = False
        """True once the worker has reported that it is ready for calls."""

    @property
    def pid(self) -> int:
        """Id of the process, which is also the leader of its session."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Return True while the worker can take calls."""
        return self._process.poll() is None and self._killing is None

    def call_all(self, given: Sequence[Assignment], owner: CallOwner) -> None:
        """Send calls, and serve the worker until each has ended or was taken back. Report each end to the owner."""
        self._is_over.clear()
        attending = self._attending = Attending(self, owner, given[0].log)
        was_ready, left = self.is_ready, list(given)
        try:
            if not was_ready:
                # Inside the ``try`` that handles calls whose worker is killed.
                self.wire.send(self._introduction)
                attending.until_ready()
            left, bodies = self._written(given, owner)
            if left:
                self.wire.send_list("calls", bodies)
                sent, left = left, []
                owner.admit(self, sent)
                attending.until_over()
        except (Closed, TimedOut) as error:
            blamed = left.pop(0) if left and not was_ready else None  # or each that it is given to dies in its turn
            if isinstance(error, TimedOut):
                self._end_late(attending, owner, blamed)
            else:
                self._end_dead(attending, owner, blamed)
            owner.give_back(left)
        finally:
            self._is_over.set()

    def _written(self, given: Sequence[Assignment], owner: CallOwner) -> tuple[list[Assignment], list[bytes]]:
        """Return the calls that can be sent, and the bytes to send for each. Report the others as failed."""
        sent, bodies = [], []
        for one in given:
            self._count += 1
            one.number = self._count
            at, told = self._told_of(one.site)
            try:
                bodies.append(written({**one.letter, "number": one.number, "at": at, **told}))
            except ProblemsError as error:
                if told:
                    self._sites.pop(id(one.site), None)  # the worker did not receive it
                owner.failed(one, error)
                continue
            one.is_told = bool(told)
            sent.append(one)
        return sent, bodies

    def _told_of(self, site: Site) -> tuple[int, Letter]:
        """Return (number of the site in this worker, fields that describe it). No fields if the worker has it."""
        known = self._sites.get(id(site))
        if known is not None:
            return known[0], {}
        if len(self._sites) >= MAX_SITES:
            self._sites.clear()
        number = len(self._sites)
        self._sites[id(site)] = number, site
        return number, {"told": write_site(site)}

    def cancel(self, mark: str) -> None:
        """Inform the running call that it is canceled."""
        self.wire.send({"cancel": mark})

    def condemn(self) -> None:
        """Give the worker no further calls, because it is about to be killed."""
        if self._killing is None:
            self._killing = threading.Event()

    def spare(self) -> None:
        """Wake the thread that waits until the kill of this worker is over: it is over now, or does not happen."""
        if self._killing is not None:
            self._killing.set()

    def kill(self, mark: str, grace_s: float = GRACE_S) -> None:
        """End the worker and all processes of the call: SIGTERM, after ``grace_s`` seconds SIGKILL. Thread-safe."""
        self.condemn()
        until = time.monotonic() + grace_s
        # First the processes it started: the worker must keep reading and forwarding their output while they clean up.
        if end(lambda found: found == mark, grace_s=grace_s) and grace_s > 0:
            self._hear_out(until)
        self._process.terminate()
        self._await_end(max(0.0, until - time.monotonic()))
        end(lambda found: found == mark, grace_s=0)  # what its code has started since
        self.spare()

    def close(self) -> None:
        """Close the socket of an idle worker, wait until it has ended, and close its pipes."""
        self.wire.close()
        self._await_end(GRACE_S)
        for output in self.outputs.values():
            output.pipe.close()
        self.calls.close()

    def _hear_out(self, until: float) -> None:
        """Wait for the end of the call, at least until the time ``until``, and longer while output keeps coming.

        Stop after ``LAST_WORDS_S`` seconds without output.
        """
        heard, longest = self._heard, time.monotonic() + HEARD_OUT_S
        while not self._is_over.wait(max(LAST_WORDS_S, until - time.monotonic())):
            if self._heard == heard or time.monotonic() > longest:
                break
            heard = self._heard

    @property
    def _heard(self) -> int:
        return 0 if self._attending is None else self._attending.heard

    def _end_late(self, attending: Attending, owner: CallOwner, blamed: Assignment | None) -> None:
        """End the call that exceeded its time limit, and handle its messages until it has ended."""
        self.condemn()
        owner.give_back(self.calls.take_back())
        late = self.calls.current or blamed
        if late is None:
            self.spare()
            return
        ender = threading.Thread(target=self.kill, args=(late.mark,), name="phaseline-kill", daemon=True)
        ender.start()
        with contextlib.suppress(Closed, TimedOut):
            attending.until_ended(2 * GRACE_S + HEARD_OUT_S)
        self._is_over.set()
        ender.join()
        self._last_words(attending)
        self.calls.clear()
        owner.failed(late, TimedOut())

    def _end_dead(self, attending: Attending, owner: CallOwner, blamed: Assignment | None) -> None:
        """Report the running call as failed, because the worker has died."""
        self._last_words(attending)
        code = self._process.wait()
        owner.give_back(self.calls.take_back())
        lost = self.calls.current or blamed
        if lost is None:
            return
        if self._killing is None:
            end(lambda found: found == lost.mark, grace_s=0)
        else:
            self._killing.wait(2 * GRACE_S + HEARD_OUT_S)  # ``kill`` gives the processes of the call time to end
        self.calls.clear()
        owner.failed(lost, WorkerDied(code))

    def _last_words(self, attending: Attending) -> None:
        """Handle the messages and output that the worker sent before its process ended."""
        with contextlib.suppress(Closed):
            attending.last_words()
        attending.finish_outputs()

    def _await_end(self, grace_s: float) -> None:
        import subprocess

        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _environment() -> dict[str, str]:
    """Return the environment of plugin processes, with the path on which the worker finds its program."""
    return {**plugin_environment(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def signal_name(code: int) -> str:
    """Return the name of a signal for a negative exit code: ``SIGKILL`` for -9."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return str(-code)
