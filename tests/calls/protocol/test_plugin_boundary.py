"""What plugins give comes through the gate plain, or fails the call that gave it."""

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as some
from tests.run import evil

import phaseline
from phaseline import ProblemsError
from phaseline.calls.protocol.call import Outcome, outcome_of, truncate
from phaseline.calls.protocol.plugin_boundary import LONGEST_AFTER_S, changed, milliseconds, require_storable
from phaseline.model.deployment.runtime_properties import MAX_DEPTH, storable
from phaseline.model.graph.status import OutcomeKind

TEXTS = some.text(some.characters(), max_size=5)
WRONG = some.sampled_from(list(evil.UNSTORABLE.values()))
LEAVES = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | TEXTS
    | some.binary(max_size=2)
    | some.builds(lambda make: make(), WRONG)
)
KEYS = TEXTS | some.integers() | some.none() | some.tuples(some.integers()) | some.builds(evil.Mute)
ANYTHING = some.recursive(
    LEAVES,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.tuples(inner)
        | some.dictionaries(KEYS, inner, max_size=3)
        | some.builds(lambda found: evil.Closed(a=found), inner)
    ),
    max_leaves=8,
)


def assert_code(error: ProblemsError, code: str) -> None:
    assert [problem.code for problem in error.problems] == [code]


def is_plain(value: object, depth: int = 0) -> bool:
    assert depth <= MAX_DEPTH
    if type(value) is dict:
        return all(type(key) is str and is_plain(item, depth + 1) for key, item in value.items())
    if type(value) is list:
        return all(is_plain(item, depth + 1) for item in value)
    return value is None or type(value) in {str, int, float, bool}


@given(ANYTHING)
def test_a_value_comes_through_the_gate_plain_or_not_at_all(value: object) -> None:
    try:
        found = require_storable(value, "it")
    except ProblemsError as error:
        assert_code(error, "PL-O034")
        return
    assert is_plain(found)
    assert json.dumps(json.loads(json.dumps(found))) == json.dumps(found)
    assert json.dumps(storable(found)) == json.dumps(found)


@given(some.dictionaries(TEXTS, some.integers() | TEXTS, max_size=2), some.dictionaries(KEYS, ANYTHING, max_size=2))
def test_what_differs_of_a_document_is_plain_or_is_refused(before: dict[str, object], after: dict[str, object]) -> None:
    try:
        written, removed = changed(before, after)  # type: ignore[arg-type]  # of plugins
    except ProblemsError as error:
        assert_code(error, "PL-O034")
        return
    assert all(type(step) is str for path in (*written, *removed) for step in path)
    assert all(is_plain(value) for value in written.values())


@given(ANYTHING | some.floats() | some.integers())
def test_a_time_is_between_now_and_a_year_or_is_refused(value: object) -> None:
    try:
        found = milliseconds(value)
    except ProblemsError as error:
        assert_code(error, "PL-O032")
        return
    assert type(found) is int
    assert 0 <= found <= LONGEST_AFTER_S * 1000


MAKERS: list[Callable[[], BaseException]] = [*evil.FINAL.values(), *evil.RAISED.values()]


@given(some.sampled_from(MAKERS), some.none() | ANYTHING)
def test_whatever_is_raised_has_an_outcome(make: Callable[[], BaseException], after: object) -> None:
    raised = make()
    if after is not None and type(raised) is phaseline.RecoverableError:
        raised.retry_after = after  # type: ignore[assignment]  # of plugins
    found = outcome_of(raised)
    assert isinstance(found, Outcome)
    assert found.kind in {OutcomeKind.FAILED, OutcomeKind.RETRY}
    assert -1 <= found.delay_ms <= LONGEST_AFTER_S * 1000
    assert all(type(text) is str for text in (found.message, *found.error.values()))


@given(some.text() | some.integers() | some.binary())
def test_what_is_said_is_a_text(said: object) -> None:
    assert type(truncate(said, 10)) is str
