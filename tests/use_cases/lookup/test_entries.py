"""Entries of a graph by position: their phases, and the instances that they are about."""

from dataclasses import replace

import numpy as np
from tests.store import builders as a

from phaseline.model.graph.graph import Graph, Step, SubjectKind
from phaseline.use_cases.lookup.entries import GraphEntries

KINDS = (SubjectKind.INSTANCE, SubjectKind.SOURCE, SubjectKind.NONE, SubjectKind.DEPLOYMENT)


def one_of_each() -> Graph:
    """Two entries of each kind of subject."""
    steps = tuple(Step(f"step-{at}", kind, at * 2, 2) for at, kind in enumerate(KINDS))
    return replace(a.graph(2, len(KINDS)), steps=steps, subject=np.array([0, 1, 0, 1, -1, -1, 0, 0], np.int32))


def test_an_entry_has_the_phase_of_its_step() -> None:
    entries = GraphEntries(one_of_each())
    assert [entries.phase(at) for at in range(8)] == [f"step-{at // 2}" for at in range(8)]


def test_an_entry_of_a_relationship_has_two_instances_and_one_of_the_deployment_none() -> None:
    topology = a.topology(a.blueprint(), 2, 3)
    entries = GraphEntries(one_of_each())
    ids = [entries.subject(topology, at) for at in range(8)]
    assert ids[:2] == [("host_0", ""), ("host_1", "")]
    assert ids[2:4] == [
        (topology.ids[int(source)], topology.ids[int(target)])
        for source, target in zip(topology.source[:2], topology.target[:2], strict=True)
    ]
    assert ids[4:] == [("", "")] * 4
