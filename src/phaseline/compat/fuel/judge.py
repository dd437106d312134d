"""Evaluates YAQL, and patterns that RE2 does not support, in another process that computes each for
at most a second.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from phaseline.lang.regex import MAX_PATTERN, PatternError
from phaseline.packages.languages.slow_languages import ConditionError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

WORKER = Path(__file__).with_name("worker.py")
"""Path of the worker's code. It is run as a script, so that it does not import Phaseline's modules."""
PATIENCE_S = 60.0
"""Seconds to wait for an answer. The worker normally answers sooner, because it stops computing after a second."""
NOT_INSTALLED = "the library 'yaql' is not installed: pip install 'phaseline[fuel]'"
MEND = "Shorten it; YAQL computes a second and 100,000 steps at most."


class YaqlJudge:
    """Sends expressions and patterns to a worker process, which is started on first use. Safe to use from any thread.

    Call ``close`` at the end, or use it in a ``with`` block, to end the process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def yaql_fault(self, text: str) -> str:
        """Return why an expression cannot be parsed, or an empty text if it can."""
        if find_spec("yaql") is None:
            return NOT_INSTALLED
        return str(self._ask("yaql syntax", text).get("fault", ""))

    def yaql(self, text: str, data: Value) -> Value:
        """Return the value of an expression evaluated on ``data``. Raises: ``ConditionError``."""
        fault = NOT_INSTALLED if find_spec("yaql") is None else ""
        answer = {"fault": fault} if fault else self._ask("yaql", text, data)
        if "fault" in answer:
            raise ConditionError(str(answer["fault"]), MEND)
        found: Value = answer["value"]
        return found

    def pattern_fault(self, pattern: str) -> str:
        """Return why a pattern cannot be used, or an empty text if it can."""
        if len(pattern) > MAX_PATTERN:
            return f"it has more than {MAX_PATTERN:,} characters"
        return str(self._ask("pattern syntax", pattern).get("fault", ""))

    def matches(self, pattern: str, text: str) -> bool:
        """Return True if a pattern matches the beginning of a text. Raises: ``PatternError``."""
        answer = self._ask("pattern", pattern, text)
        if "fault" in answer:
            raise PatternError(str(answer["fault"]))
        return answer["value"] is True

    def close(self) -> None:
        """End the worker process."""
        with self._lock:
            self._end()

    def _ask(self, what: str, text: str, data: Value = None) -> dict[str, Any]:
        question = json.dumps({"what": what, "text": text, "data": data})
        with self._lock:
            worker = self._running()
            assert worker.stdin is not None
            assert worker.stdout is not None
            killer = threading.Timer(PATIENCE_S, worker.kill)
            killer.start()
            try:
                worker.stdin.write(question + "\n")
                worker.stdin.flush()
                answer: dict[str, Any] = json.loads(worker.stdout.readline())
            except (OSError, ValueError):  # the worker has ended, by us or for lack of memory
                self._end()
                return {"fault": "it takes too long, or too much memory"}
            finally:
                killer.cancel()
        return answer

    def _running(self) -> subprocess.Popen[str]:
        if self._worker is None:
            self._worker = subprocess.Popen(
                [sys.executable, "-P", str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
        return self._worker

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        worker.kill()
        for stream in (worker.stdin, worker.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        worker.wait()
