"""Conversion of the requests of executions to JSON, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter, flaws_of
from phaseline.store.codec.json_documents import require_known, to_text

if TYPE_CHECKING:
    from phaseline.model.execution.breakpoints import Breakpoint

REQUEST_FORMAT = 1
"""Latest format of requests that this version reads; stored ones without a number have format 1."""
WAIT = Request("").if_busy
"""Default of the field ``if_busy``, for requests that were stored before this field existed."""
MOST_KEPT, MOST_TEXT = 64, 1_000
"""Limits of the cache of decoded requests: number of requests, and characters of the longest one.

A command reads the request of its own execution several times.
"""


def to_json(request: Request) -> str:
    """Return a request as JSON."""
    return to_text(
        {
            "workflow": request.workflow,
            "parameters": dict(request.parameters),
            "retries": _retries_told(request.retries),
            "stop_after": as_dict(request.stop_after) if request.stop_after else None,
            "clean": request.clean,
            **({} if request.if_busy == WAIT else {"if_busy": request.if_busy}),
            **({"take_back": True} if request.take_back else {}),
            **({"surrounded": True} if request.is_surrounded else {}),
            **({"breakpoints": [as_dict(one) for one in request.breakpoints]} if request.breakpoints else {}),
            **({} if request.timeout_s is None else {"timeout_s": request.timeout_s}),
            **({"acts_since": request.acts_since} if request.acts_since else {}),
            **({"despite": request.despite} if request.despite else {}),
            **({"group_run": request.group_run} if request.group_run else {}),
        }
    )


def from_json(text: str) -> Request:
    """Return the request that ``to_json`` has encoded.

    If the text is unreadable, the returned request has the reason as its ``flaw``, so that other requests can still be
    read.
    """
    return _known(text) if len(text) <= MOST_TEXT else _from_json(text)


def _from_json(text: str) -> Request:
    try:
        found = _read(text)
        flaws = "; ".join(f"{name} is not {wanted}" for name, wanted in flaws_of(found))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        return Request("", flaw=f"its request cannot be read ({type(error).__name__}: {error})")
    if flaws:
        return Request(str(found.workflow), flaw=f"of its request {flaws}")
    return found


def _read(text: str) -> Request:
    found = json.loads(text)
    require_known(found, REQUEST_FORMAT, "it")
    return Request(
        workflow=found["workflow"],
        parameters=found["parameters"],
        retries=_retries(found["retries"]),
        stop_after=StopAfter(**found["stop_after"]) if found["stop_after"] else None,
        clean=found["clean"],
        if_busy=found.get("if_busy", WAIT),
        take_back=found.get("take_back", False),
        is_surrounded=found.get("surrounded", False),
        acts_since=found.get("acts_since", 0),
        despite=found.get("despite", ""),
        group_run=found.get("group_run", 0),
        timeout_s=found.get("timeout_s"),
        breakpoints=_breakpoints(found["breakpoints"]) if "breakpoints" in found else (),
    )


def _retries_told(retries: RetryPolicy) -> dict[str, Any]:
    """Return the retry policy as a dict, with ``backoff_s`` only if set, so that older versions can read the rest."""
    found = as_dict(retries)
    if not retries.backoff_s:
        del found["backoff_s"]
    return found


def _retries(found: dict[str, Any]) -> RetryPolicy:
    return RetryPolicy(**{**found, "backoff_s": tuple(found.get("backoff_s", ()))})


_known = lru_cache(maxsize=MOST_KEPT)(_from_json)


def _breakpoints(told: list[dict[str, Any]]) -> tuple[Breakpoint, ...]:
    from phaseline.model.execution.breakpoints import Breakpoint  # most requests have none

    return tuple(Breakpoint(**one) for one in told)
