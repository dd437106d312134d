"""Asking the owner of the store for something about resources, and having it answered though nobody owns the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.running_engine import Engine, engine_now
from phaseline.use_cases.lookup.ticket import await_answers

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder


def ask_for(
    place: Workplace,
    asked: Sequence[tuple[RequestKind, int, Mapping[str, Value]]],
    *,
    given: NewOrder | None = None,
    told: Mapping[str, Value] | None = None,
) -> Engine:
    """Ask for all of it, all or nothing, and await the answers; who will go on with it. Each is (kind, execution, body).

    ``given``: the order that this is, ``told``: what its answer needs. Raises: what the owner refused, all of it; PL-C035 if an engine does not answer.
    """
    with place.store.as_one(given) as answer:
        answer.update(told or {})
        numbers = [place.store.ask(kind, execution, body, place.actor) for kind, execution, body in asked]
    engine = settle(place, numbers)
    refuse_refused(place, numbers)
    return engine


def refuse_refused(place: Workplace, requests: Sequence[int]) -> None:
    """Raise what the owner refused of these."""
    refused = [problem for number in requests if (problem := _refusal(place, number)) is not None]
    if refused:
        raise ProblemsError(refused)


def settle(place: Workplace, requests: Sequence[int]) -> Engine:
    """Have all answered, by the engine that runs or by this process for the moment; who goes on. Raises: PL-C035."""
    await_answers(place, requests)
    return engine_now(place)


def _refusal(place: Workplace, request: int) -> Problem | None:
    from phaseline.run.loop.request_reader import problem_of

    return problem_of(place.store.answer_of(request) or {})
