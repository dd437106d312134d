"""The exception of a failed script, in a module of its own: code that only handles the exception need not import
``scripts``.
"""

from __future__ import annotations


class ProcessException(Exception):
    """Raised for a script with an exit code other than 0; the operation is retried like after any
    other failure (S4).
    """

    def __init__(
        self, command: str, exit_code: int, stdout: str | None = None, stderr: str | None = None, message: str = ""
    ) -> None:
        """Make the error. The default ``message`` has the exit code and the last line of ``stderr``."""
        self.command = command
        self.exit_code = exit_code
        self.stdout = stdout or ""
        self.stderr = stderr or ""
        super().__init__(message or _exit_message(command, exit_code, self.stdout, self.stderr))


def _exit_message(command: str, code: int, stdout: str, stderr: str) -> str:
    last = last_line(stderr) or last_line(stdout) or "no output"
    ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"{command} {ended}: {last}"


def last_line(text: str) -> str:
    """Return the last line that is not blank, or an empty text."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
