"""Every flavour has a caller, made when it is first asked for."""

from functools import partial
from typing import get_args

import pytest

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.protocol.call import Flavour
from phaseline.tasks.host_keys import HostKeys


@pytest.mark.parametrize("flavour", get_args(Flavour))
def test_each_flavour_has_one_caller(flavour: Flavour) -> None:
    callers = CallerRegistry(make_caller)
    assert callable(callers[flavour].call)
    assert callers[flavour] is callers[flavour]


def test_keys_of_hosts_are_asked_for_with_the_first_task() -> None:
    asked = []

    def host_keys() -> HostKeys:
        asked.append(True)
        return HostKeys()

    callers = CallerRegistry(partial(make_caller, host_keys=host_keys))
    _ = callers["native"]
    assert not asked
    _ = callers["task"]
    assert asked
