"""Answers as JSON: written by a way of our own, and equal to what the library writes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import EntryStatus
from phaseline.views.json_codec import document, plain


@frozen
class Told:
    """Something of every kind of field."""

    name: str
    started_at: int
    at: int
    rest: object = None


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(EntryStatus)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.builds(Told, st.text(), st.integers(0, 10**12), st.integers(0, 10**12), inner)
    ),
)


@given(VALUES)
def test_a_document_is_what_the_library_writes_of_the_plain_value(value: object) -> None:
    assert document(value) == json.dumps(plain(value), indent=2, ensure_ascii=False)
