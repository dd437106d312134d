"""Requests of executions as JSON, and back."""

from __future__ import annotations

import json
from dataclasses import asdict

from phaseline.model.execution import Request, RetryPolicy, StopAfter
from phaseline.store.documents import to_text


def to_json(request: Request) -> str:
    """The request as JSON."""
    return to_text(
        {
            "workflow": request.workflow,
            "parameters": dict(request.parameters),
            "retries": asdict(request.retries),
            "stop_after": asdict(request.stop_after) if request.stop_after else None,
            "clean": request.clean,
        }
    )


def from_json(text: str) -> Request:
    """The request of ``to_json``."""
    told = json.loads(text)
    return Request(
        workflow=told["workflow"],
        parameters=told["parameters"],
        retries=RetryPolicy(**told["retries"]),
        stop_after=StopAfter(**told["stop_after"]) if told["stop_after"] else None,
        clean=told["clean"],
    )
