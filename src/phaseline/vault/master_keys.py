"""The master keys: from an environment variable, from a command, or from a file that only its user can read (BK3).

The file is created when the first secret is stored. Several keys may exist while keys are replaced: the first one
encrypts, all of them decrypt.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.vault import envelope

VARIABLE = "PHASELINE_SECRETS_KEY"
"""Environment variable with master keys in base64, separated by spaces or commas, the newest first.

If it is set, no file is used.
"""
MODE = 0o600
COMMAND_S = 30
"""Most seconds that the command may take to print the keys."""


def id_of(key: bytes) -> str:
    """Return the id of a key, which can be shown where the key must not be."""
    import hashlib  # 5 ms that a command without secrets need not pay

    return hashlib.sha256(b"phaseline master key\0" + key).hexdigest()[:16]


class MasterKeys:
    """Reads and writes the master keys. If ``file`` is empty, keys live as long as this process.

    That is enough for a store in memory.
    """

    def __init__(self, file: str, environment: Mapping[str, str] | None = None, *, command: str = "") -> None:
        """``command`` prints the keys; with it no file is used."""
        self.file = file
        self._command = command
        self._printed: list[bytes] = []
        """The keys that the command has printed: it is called once in a process."""
        self._environment = os.environ if environment is None else environment
        self._own: list[bytes] = []

    @property
    def place(self) -> str:
        """Return a text for the user about where the keys are."""
        if self._environment.get(VARIABLE):
            return f"the variable {VARIABLE}"
        if self._command:
            return "the output of the command in the setting secrets.key_command"
        return f"the file '{self.file}'" if self.file else "the memory of this process"

    @property
    def are_in_file(self) -> bool:
        """Return True if the keys are in a file, so that this program can replace them."""
        return bool(self.file) and not self._command and not self._environment.get(VARIABLE)

    def read(self) -> list[bytes]:
        """Return all keys, the newest first; empty if there is no file. Raises: PL-S021, PL-S022."""
        given = self._environment.get(VARIABLE)
        if given:
            return _parsed(given.replace(",", " ").split(), self.place)
        if self._command:
            self._printed = self._printed or self._run()
            return list(self._printed)
        if not self.file:
            return list(self._own)
        path = Path(self.file)
        try:
            with path.open(encoding="ascii") as handle:
                self._refuse_open_to_others(os.fstat(handle.fileno()))
                return _parsed(handle.read().split(), self.place)
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(self.place, str(error)) from error

    def _run(self) -> list[bytes]:
        """Return the keys that the command prints, at least one. Raises: PL-S021, without the command's output."""
        import shlex
        import subprocess

        try:
            done = subprocess.run(
                shlex.split(self._command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _unreadable(self.place, f"the command did not end within {COMMAND_S} s") from error
        except OSError as error:
            raise _unreadable(self.place, error.strerror or str(error)) from error
        if done.returncode:
            raise _unreadable(self.place, f"the command ended with code {done.returncode}")
        keys = _parsed(done.stdout.decode("ascii", "replace").split(), self.place)
        if not keys:
            raise _unreadable(self.place, "the command printed nothing")
        return keys

    def newest(self) -> bytes:
        """Return the key that encrypts. If there is none, create a file with a new key. Call this within ``alone``."""
        keys = self.read()
        if not keys:
            keys = [envelope.new_key()]
            self.write(keys)
        return keys[0]

    def find(self, id: str) -> bytes | None:
        """Return the key with this id, or None."""
        return next((key for key in self.read() if id_of(key) == id), None)

    def write(self, keys: Sequence[bytes]) -> None:
        """Replace all keys in the file, in one step or not at all. Only the user can read the file."""
        if not self.file:
            self._own = list(keys)
            return
        beside = f"{self.file}.new"
        text = "".join(base64.b64encode(key).decode() + "\n" for key in keys)
        try:
            Path(self.file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(beside).unlink(missing_ok=True)
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).replace(self.file)
            folder = os.open(Path(self.file).parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise _unreadable(self.place, error.strerror or str(error)) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Return a context in which no other process replaces the keys or reads the newest key to encrypt with it."""
        if not self.are_in_file:
            yield
            return
        try:
            Path(self.file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(f"{self.file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
        except OSError as error:
            raise _unreadable(self.place, error.strerror or str(error)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _refuse_open_to_others(self, found: os.stat_result) -> None:
        if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            message = f"the master key in {self.place} can be read or written by others: its mode is {found.st_mode & 0o777:o}"
            mend = f"close the file, then give the secrets a new master key, because this key may be known: chmod 600 {self.file}; phaseline secrets rotate"
            raise problem_error("PL-S022", message, mend)


def _parsed(words: Sequence[str], place: str) -> list[bytes]:
    keys: list[bytes] = []
    for word in words:
        try:
            key = base64.b64decode(word, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != envelope.KEY_BYTES:
            raise _unreadable(place, f"it holds something that is not {envelope.KEY_BYTES} bytes in base64")
        keys.append(key)
    return keys


def _unreadable(place: str, reason: str) -> ProblemsError:
    mend = f"correct it, or put the key there with which the secrets were stored; {VARIABLE} takes its place"
    return problem_error("PL-S021", f"the master key cannot be read from {place}: {reason}", mend)
