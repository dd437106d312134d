"""A store and what was read ahead answer the same questions."""

import inspect

import pytest

from phaseline.ports.execution_reads import ExecutionReads
from phaseline.ports.store import Store
from phaseline.use_cases.lookup.read_ahead import ReadAhead

METHODS = [name for name, _ in inspect.getmembers(ExecutionReads, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize("reads", [Store, ReadAhead])
@pytest.mark.parametrize("name", METHODS)
def test_reads_have_the_arguments_of_the_protocol(reads, name):
    assert inspect.signature(getattr(reads, name)) == inspect.signature(getattr(ExecutionReads, name))


def test_the_protocol_has_no_method_that_writes():
    assert "commit" not in METHODS
    assert "topology" in METHODS
