"""Imports the functions of phases: each function once for each version of its package. Safe to use from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from phaseline.calls.threads.guarded_calls import guarded_call

if TYPE_CHECKING:
    from phaseline.catalog.code.function_loader import Loader
    from phaseline.model.phases.definitions import PhaseCode

Key = tuple[tuple[str, ...], str]


class PhaseImporter:
    """Holds the functions of the active phases. A call that has begun keeps its function, even
    after a reload (PD43).
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = threading.Lock()
        self._known: dict[Key, Callable[..., object]] = {}

    def load(self, code: PhaseCode) -> Callable[..., object]:
        """Return the function, and import it if necessary.

        Raises ``ImportError``, ``AttributeError``, ``TypeError`` or what importing its module raised.
        """
        key = _key(code)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = self._import(code)
            with self._lock:
                known = self._known.setdefault(key, known)
        return known

    def renew(self, codes: Iterable[PhaseCode]) -> dict[PhaseCode, BaseException]:
        """Import these functions again from their current source, and return {code: exception} of the failed imports.

        A function whose import failed is not replaced.
        """
        wanted = list(codes)
        for folders in dict.fromkeys(code.folders for code in wanted):
            self._loader.forget(folders)
        failed: dict[PhaseCode, BaseException] = {}
        for code in wanted:
            function, error = guarded_call(self._import, code)
            if function is None:
                assert error is not None, "an attempt gives a function or an error"
                failed[code] = error
            else:
                with self._lock:
                    self._known[_key(code)] = function
        return failed

    def _import(self, code: PhaseCode) -> Callable[..., object]:
        function = getattr(self._loader.module(code.module, code.folders), code.function)
        if not callable(function):
            raise TypeError(f"'{code}' is not callable")
        return function  # type: ignore[no-any-return]  # checked by callable() above


def _key(code: PhaseCode) -> Key:
    return code.folders, str(code)
