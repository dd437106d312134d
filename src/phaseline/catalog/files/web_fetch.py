"""Fetches blueprint files from the web: only from addresses that the settings allow, with limits on
time and size (B6).
"""

from __future__ import annotations

import posixpath
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException, InvalidURL
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from email.message import Message

SETTING = "blueprints.allowed_imports"
TIMEOUT_S = 10.0
"""Seconds that a server may send nothing before the fetch is given up."""
WHOLE_S = 60.0
"""Seconds that one file may take, even if data keeps arriving."""
MORE_TRIES = 5
PAUSE_S = 1.0
"""Number of further attempts (``MORE_TRIES``), and the seconds between them, after a failed connection, a time-out or a
5xx.
"""
CHUNK_BYTES = 256 * 1024
PORTS = {"http": 80, "https": 443}
GONE = frozenset({404, 410})


class WebFiles:
    """Fetches texts by ``http`` and ``https``.

    ``allowed``: beginnings of permitted addresses; if empty, nothing is fetched.
    """

    def __init__(
        self,
        allowed: Sequence[str] = (),
        *,
        limit_bytes: int,
        timeout_s: float = TIMEOUT_S,
        pause: Callable[[float], None] = time.sleep,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Set the limits.

        ``pause`` waits between two attempts; ``tell`` is called once for each file that needs another attempt.
        """
        self._allowed = tuple(allowed)
        self._limit_bytes = limit_bytes
        self._timeout_s = timeout_s
        self._pause = pause
        self._tell = tell
        self._opener = urllib.request.build_opener(_Redirects(self.check))

    def check(self, url: str) -> None:
        """Raise PL-B028 unless the address is at or below an allowed address."""
        if any(is_below(url, beginning) for beginning in self._allowed):
            return
        message = f"'{url}' is not among the addresses that blueprints may import from"
        mend = f"add its beginning to the setting '{SETTING}', or save the file beside the blueprint"
        raise _refusal("PL-B028", message, mend, url)

    def fetch(self, url: str) -> str | None:
        """Return the text at an address, or None if the server has no such file.

        Raises: PL-B028 for an address that is not allowed, also after a redirection; PL-B029 for an address that cannot
        be fetched; PL-B002 for a file that is no text; PL-B003 for a file that is too long.
        """
        self.check(url)
        content = self._content(url)
        if content is None:
            return None
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"'{url}' is not UTF-8 text: byte {error.start + 1} is no part of a character"
            raise _refusal("PL-B002", message, "save the file as UTF-8", url) from error

    def _content(self, url: str) -> bytes | None:
        tries = 0
        while True:
            try:
                return self._read(url)
            except urllib.error.HTTPError as error:
                with error:
                    if error.code in GONE:
                        return None
                    reason, is_final = f"the server answers {error.code} {error.reason}", error.code < 500
            except (OSError, HTTPException, ValueError) as error:
                # an address that cannot be one is no better at the next try
                reason, is_final = _error_text(error), isinstance(error, ValueError | InvalidURL)
            if is_final or tries == MORE_TRIES:
                times = f" (tried {tries + 1} times)" if tries else ""
                mend = "check the address and the connection, or save the file beside the blueprint"
                raise _refusal("PL-B029", f"'{url}' cannot be fetched: {reason}{times}", mend, url)
            if not tries:
                longest = MORE_TRIES * (PAUSE_S + self._timeout_s)
                self._tell(f"'{url}': {reason}; tried {MORE_TRIES} more times, for {longest:.0f} s at most")
            tries += 1
            self._pause(PAUSE_S)

    def _read(self, url: str) -> bytes:
        """Return the whole content, or raise an exception, also for a file that is too long or too slow."""
        until = time.monotonic() + WHOLE_S
        parts: list[bytes] = []
        size = 0
        with self._opener.open(url, timeout=self._timeout_s) as answer:
            while chunk := answer.read1(CHUNK_BYTES):
                parts.append(chunk)
                size += len(chunk)
                if size > self._limit_bytes:
                    message = f"'{url}' has more than {self._limit_bytes:,} bytes"
                    raise _refusal("PL-B003", message, "split the blueprint into several files", url)
                if time.monotonic() > until:
                    raise TimeoutError(f"it takes longer than {WHOLE_S:g} s")
        return b"".join(parts)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Handler for ``urllib`` that follows a redirection only if the new address is allowed, too."""

    def __init__(self, check: Callable[[str], None]) -> None:
        self._check = check

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        """Follow a redirection as ``urllib`` does. Raises: PL-B028 if the new address is not allowed."""
        try:
            self._check(newurl)
        except ProblemsError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]  # urllib's own value


def is_below(url: str, beginning: str) -> bool:
    """Return True if ``url`` is at or below ``beginning``: same scheme, server and port, and a path within its path.

    >>> is_below("https://example.org/blueprints/a.yaml", "https://example.org/blueprints")
    True
    >>> is_below("https://example.org.evil.net/a.yaml", "https://example.org")
    False
    """
    try:
        one, other = urlsplit(url), urlsplit(beginning)
        same = (one.scheme, one.hostname, one.port or PORTS.get(one.scheme)) == (
            other.scheme,
            other.hostname,
            other.port or PORTS.get(other.scheme),
        )
    except ValueError:
        return False
    if not same or one.scheme not in PORTS or one.username is not None or one.password is not None:
        return False
    path, top = unquote(one.path or "/"), unquote(other.path or "/")
    if "\\" in path or (posixpath.normpath(path) != path.rstrip("/") and path != "/"):
        return False  # '..' and the like could lead out again
    return path == top or path.startswith(top if top.endswith("/") else f"{top}/")


def _error_text(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return getattr(reason, "strerror", None) or str(reason) or type(error).__name__


def _refusal(code: str, message: str, mend: str, url: str) -> ProblemsError:
    return ProblemsError(
        [Problem(code, message, mend, Place(url), cloudify_code=13, cloudify_class="DSLParsingLogicException")]
    )
