"""A later format of a stored value is refused with its number (rule UP4)."""

import json

import pytest
from tests.store import builders as a

from phaseline.store.codec import graphs, requests
from phaseline.store.codec.graphs import GRAPH_FORMAT
from phaseline.store.codec.requests import REQUEST_FORMAT


def test_up4_a_request_of_a_later_format_has_a_flaw_and_no_workflow() -> None:
    text = json.dumps({**json.loads(requests.to_json(a.REQUEST)), "format": REQUEST_FORMAT + 1})
    found = requests.from_json(text)
    assert (found.workflow, f"format {REQUEST_FORMAT + 1}" in found.flaw) == ("", True)


def test_up4_a_request_of_the_present_format_may_name_it() -> None:
    text = json.dumps({**json.loads(requests.to_json(a.REQUEST)), "format": REQUEST_FORMAT})
    assert requests.from_json(text) == a.REQUEST


def test_up4_a_graph_of_a_later_format_is_refused() -> None:
    steps, policies, *columns = graphs.to_row(a.graph())
    later = json.dumps({**json.loads(policies), "format": GRAPH_FORMAT + 1})
    with pytest.raises(ValueError, match=f"format {GRAPH_FORMAT + 1}"):
        graphs.from_row("install", (steps, later, *columns))
