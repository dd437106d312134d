"""One worker process as the engine holds it: started, given one call at a time, ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from phaseline.model.problem import ProblemsError
from phaseline.run.plugin_code import attempt, said_by
from phaseline.run.processes import GRACE_S, end
from phaseline.run.wire import Closed, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.run.letters import Letter
    from phaseline.run.wire import Message

MAX_PARTIAL_BYTES = 65_536
"""A longer line of output is logged in pieces."""
READ_BYTES = 65_536
START_S = 60.0
"""A worker that is not ready after so long hangs."""
LAST_WORDS_S = 1.0
"""A worker whose processes were ended has at least so long to tell what they said last, else what is left of the grace."""
HEARD_OUT_S = 60.0
"""And so long at most while it goes on telling."""
MASTER_KEY = "PHASELINE_SECRETS_KEY"
"""The variable of the master key of secrets."""
PARTS = frozenset({"ready", "begun", "outcome"})
"""Messages that end a part of a call: the worker can be given calls, the code is loaded, the code has ended."""
PROGRAM = "phaseline.run.worker_main"
PREFIXES = ("<out> ", "<err> ")
"""How lines of standard output and error are told apart in logs (S3)."""


class Died(Exception):
    """The worker's process ended during a call; ``code`` negative: the signal."""

    def __init__(self, code: int) -> None:
        """``code`` as ``subprocess`` gives it."""
        super().__init__(code)
        self.code = code


class TimedOut(Exception):
    """The call took longer than it may, and was ended."""


class Output:
    """Bytes of one pipe as lines."""

    def __init__(self, pipe: Any, prefix: str) -> None:
        """``prefix`` goes before each line."""
        os.set_blocking(pipe.fileno(), False)
        self.pipe = pipe
        self._prefix = prefix
        self._rest = b""

    def read(self, log: Callable[[str, str], None]) -> bool:
        """Log the whole lines that are there now; False when nothing more will come."""
        while True:
            try:
                chunk = os.read(self.pipe.fileno(), READ_BYTES)
            except BlockingIOError:
                return True
            except (OSError, ValueError):
                return False  # closed by an engine that leaves at once: nobody wants to know any more
            if not chunk:
                return False
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            if len(self._rest) > MAX_PARTIAL_BYTES:
                lines.append(self._rest)
                self._rest = b""
            for line in lines:
                self._log(line, log)

    def finish(self, log: Callable[[str, str], None]) -> None:
        """Log what is left without an end of line."""
        self.read(log)
        if self._rest:
            self._log(self._rest, log)
            self._rest = b""

    def _log(self, line: bytes, log: Callable[[str, str], None]) -> None:
        log("info", self._prefix + line.decode("utf-8", "replace").rstrip("\r"))


class Worker:
    """A worker process. Used by the one thread that started it (its death ends the process), except ``kill``."""

    def __init__(self, catalog: str) -> None:
        """``catalog``: ``module:class`` of the catalog that the worker makes."""
        import socket  # most commands start no worker, and need not pay for these two
        import subprocess

        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=_environment(),
            )
        self._wire = Wire(ours)
        pipes = (self._process.stdout, self._process.stderr)
        self._outputs = [Output(pipe, prefix) for pipe, prefix in zip(pipes, PREFIXES, strict=True)]
        self._killing: threading.Event | None = None
        self._is_over = threading.Event()
        self._told = 0
        """How many messages it has sent."""
        self._introduction = {"catalog": catalog, "path": sys.path, "pythonpath": os.environ.get("PYTHONPATH")}
        self._is_ready = False

    @property
    def pid(self) -> int:
        """Id of its process, which also leads its session."""
        return self._process.pid

    def is_alive(self) -> bool:
        """True while calls can be given to it."""
        return self._process.poll() is None and self._killing is None

    def call(
        self,
        letter: Letter,
        *,
        timeout_s: float,
        log: Callable[[str, str], None],
        answer: Callable[[str, list[Any]], Any],
    ) -> Message:
        """Give it a call and attend to it until its outcome comes. Raises ``Died`` or ``TimedOut``.

        ``answer(name, arguments)`` answers what it asks; after either exception nothing of the call is left.
        """
        self._is_over.clear()
        try:
            if not self._is_ready:
                # Here, where it is said what becomes of a call whose worker is killed.
                self._wire.send(self._introduction)
                self._attend(START_S, log, answer)
                self._is_ready = True
            self._wire.send({"call": letter})
            # The time of the operation begins when its code is loaded; loading has a bound of its own.
            self._attend(START_S, log, answer)
            return self._attend(timeout_s, log, answer)
        except Closed:
            raise self._died(letter["mark"], log) from None
        except TimedOut:
            self._end_attended(letter["mark"], log, answer)
            raise
        finally:
            self._is_over.set()

    def cancel(self, mark: str) -> None:
        """Tell the call that it is canceled."""
        self._wire.send({"cancel": mark})

    def condemn(self) -> None:
        """Give it no call any more: it is about to be killed."""
        if self._killing is None:
            self._killing = threading.Event()

    def kill(self, mark: str, grace_s: float = GRACE_S) -> None:
        """End its process and everything of the call: SIGTERM, after the grace SIGKILL. Safe from any thread."""
        self.condemn()
        until = time.monotonic() + grace_s
        # First what it started: while that cleans up, somebody must go on reading its output, and tell all of it.
        if end(lambda found: found == mark, grace_s=grace_s) and grace_s > 0:
            self._hear_out(until)
        self._process.terminate()
        self._await_end(max(0.0, until - time.monotonic()))
        end(lambda found: found == mark, grace_s=0)  # what its code has started since
        if self._killing is not None:
            self._killing.set()

    def close(self) -> None:
        """Let an idle worker go: it ends itself when the socket closes."""
        self._wire.close()
        self._await_end(GRACE_S)
        for output in self._outputs:
            output.pipe.close()

    def _hear_out(self, until: float) -> None:
        """Wait until the call is over or, from then on, nothing more is told of it for a while."""
        before, longest = self._told, time.monotonic() + HEARD_OUT_S
        while not self._is_over.wait(max(LAST_WORDS_S, until - time.monotonic())):
            if self._told == before or time.monotonic() > longest:
                break
            before = self._told

    def _end_attended(
        self, mark: str, log: Callable[[str, str], None], answer: Callable[[str, list[Any]], Any]
    ) -> None:
        """Kill it, and go on attending to what is said until then."""
        ender = threading.Thread(target=self.kill, args=(mark,), name="phaseline-kill", daemon=True)
        ender.start()
        with contextlib.suppress(Closed, TimedOut):
            self._attend(2 * GRACE_S + HEARD_OUT_S, log, answer)
        self._is_over.set()
        ender.join()
        self._last_words(log)

    def _await_end(self, grace_s: float) -> None:
        import subprocess

        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _attend(
        self, timeout_s: float, log: Callable[[str, str], None], answer: Callable[[str, list[Any]], Any]
    ) -> Message:
        """Log and answer until a message comes that ends a part of the call. ``TimedOut`` after so long (0: never)."""
        deadline = time.monotonic() + timeout_s if timeout_s > 0 else None
        with selectors.DefaultSelector() as selector:
            selector.register(self._wire, selectors.EVENT_READ)
            for output in self._outputs:
                selector.register(output.pipe, selectors.EVENT_READ, output)
            while True:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimedOut
                for key, _ in selector.select(left):
                    if key.data is None:
                        message = self._take(log, answer)
                        if message is not None:
                            for output in self._outputs:
                                output.finish(log)
                            return message
                    elif not key.data.read(log):
                        selector.unregister(key.fileobj)

    def _take(self, log: Callable[[str, str], None], answer: Callable[[str, list[Any]], Any]) -> Message | None:
        """Handle one message; the outcome is given back."""
        message = self._wire.receive()
        self._told += 1
        if "log" in message:
            level, text = message["log"]
            log(level, text)
        elif "ask" in message:
            self._wire.send({"answer": message["ask"], **_answered(answer, message)})
        elif not PARTS.isdisjoint(message):
            return message
        return None

    def _last_words(self, log: Callable[[str, str], None]) -> None:
        """Log what it said before its process ended."""
        try:
            while True:
                message = self._wire.receive()
                if "log" in message:
                    log(*message["log"])
        except Closed:
            for output in self._outputs:
                output.finish(log)

    def _died(self, mark: str, log: Callable[[str, str], None]) -> Died:
        self._last_words(log)
        code = self._process.wait()
        if self._killing is None:
            end(lambda found: found == mark, grace_s=0)
        else:
            self._killing.wait(2 * GRACE_S + HEARD_OUT_S)  # whoever kills gives what it started time to end
        return Died(code)


def _environment() -> dict[str, str]:
    """This process's own, so that the worker finds the program; whoever runs plugins does not get the master key."""
    kept = {name: value for name, value in os.environ.items() if name != MASTER_KEY}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _answered(answer: Callable[[str, list[Any]], Any], message: Message) -> Message:
    """The answer, or what is wrong with the question: a plugin may ask anything."""
    value, error = attempt(answer, message["name"], message["arguments"])
    if error is None:
        return {"value": value}
    if isinstance(error, ProblemsError):
        first = error.problems[0]
        return {"problem": [first.code, first.message, first.mend]}
    if isinstance(error, KeyError):
        return {"error": str(error.args[0]) if error.args else ""}
    return {"error": said_by(error)}


def signal_name(code: int) -> str:
    """``SIGKILL`` for -9."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return str(-code)
