"""What nobody can do anything with in a request is named, value by value."""

from typing import Any

import pytest

from phaseline.model.execution.breakpoints import Breakpoint
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter, flaws_of

SOUND = {"workflow": "install", "parameters": {"a": 1}, "retries": RetryPolicy(-1, 0.5, backoff_s=(2.0, 8.0))}


def flawed(**changes: Any) -> list[str]:
    return [name for name, _ in flaws_of(Request(**{**SOUND, **changes}))]


def test_a_sound_request_has_no_flaw() -> None:
    assert flawed(breakpoints=(Breakpoint("pre-create", timeout_s=3.0),), stop_after=StopAfter(share=0.1)) == []


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("workflow", {"workflow": 7}),
        ("parameters", {"parameters": ["a"]}),
        ("task_retries", {"retries": RetryPolicy(-2)}),
        ("task_retry_interval", {"retries": RetryPolicy(3, -1.0)}),
        ("backoff", {"retries": RetryPolicy(3, 1.0, backoff_s=(2.0, float("nan")))}),
        ("stop_after", {"stop_after": StopAfter(share=2.0)}),
        ("if_busy", {"if_busy": "perhaps"}),
        ("timeout", {"timeout_s": 0}),
        ("acts_since", {"acts_since": "yesterday"}),
        ("breakpoints", {"breakpoints": (Breakpoint(7),)}),  # type: ignore[arg-type]  # as a careless caller gives it
        ("breakpoints", {"breakpoints": (Breakpoint("pre-create", timeout_s=-1.0),)}),
    ],
)
def test_what_cannot_be_meant_is_named(name: str, changes: dict[str, Any]) -> None:
    assert flawed(**changes) == [name]
