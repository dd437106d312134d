"""A client is the nouns over one way of carrying operations out."""

from __future__ import annotations

import pytest
from tests.client.recorder import Recorder

from phaseline.client.client import Client
from phaseline.client.operations import STATUS


def test_a_client_of_another_place_replaces_one_method() -> None:
    assert Recorder().executions.retry("i", clean=True, detach=True) == (
        "executions.retry",
        {"id": "i", "deployment": None, "instances": (), "clean": True, "detach": True},
    )
    assert Recorder().status("shop") == ("status", {"deployment": "shop"})
    assert Recorder().init("hello") == ("init", {"folder": "hello", "kind": "blueprint"})
    assert Recorder().doctor() == ("doctor", {})


def test_a_client_of_no_place_carries_nothing_out() -> None:
    with Client() as client:
        with pytest.raises(NotImplementedError):
            client._call(STATUS)
        with pytest.raises(NotImplementedError):
            client.request_id("a")
