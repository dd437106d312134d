"""What every store promises (ports.Store) of deployments that take another shape: in one transaction, seen by everybody."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.modification import Started
from phaseline.model.deployment.topology import Topology
from phaseline.model.rows.rows import DocumentChange, Reshaped, TurnPayload
from phaseline.plan.topology.modification import WantedCount, modify
from phaseline.ports.store import Store

Reopen = Callable[[], Store]


def grown(topology: Topology, node: str, instances: int) -> Topology:
    change = modify(topology, {node: WantedCount(instances)}, suffixes=3)
    started = Started(
        "scale-3", "scale", node, added=change.added.changed, counts=change.counts, kept={"rows": [[0, 2]], "all": True}
    )
    return altered(change.topology, started=started, counts={node: 2})


def equal(one: Topology, other: Topology) -> bool:
    columns = ("node", "index", "container", "host", "link", "source", "target", "gone")
    same = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)
    return same and list(one.ids) == list(other.ids)


def test_n8_a_new_shape_is_stored_with_what_the_same_turn_says_of_its_new_instances(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    before = store.topology(number)
    shape = grown(before, before.nodes[-1].name, 5)
    new = len(shape) - 1
    assert new >= len(before)
    with store.own("test"):
        row = Reshaped(number, shape)
        said = TurnPayload(reshaped=(row,), documents=(DocumentChange(number, new, {("ip",): "10.0.0.1"}),))
        store.commit(a.turn(payload=said, states=(a.entered(number, (7,), new),)))
        assert equal(store.topology(number), shape)
    store = reopen()
    found = store.topology(number)
    assert equal(found, shape)
    assert dict(found.counts) == dict(shape.counts)
    told, meant = found.started, shape.started
    assert (told.execution, told.workflow, told.name) == ("scale-3", "scale", shape.nodes[-1].name)
    assert told.added.tolist() == meant.added.tolist()
    assert (dict(told.counts), told.kept) == (dict(meant.counts), {"rows": [[0, 2]], "all": True})
    assert len(store.states(number)) == len(shape)
    assert store.states(number)[new] == 7
    assert store.documents(number, [new]) == {new: {"ip": "10.0.0.1"}}


def test_n8_instances_that_are_gone_keep_their_numbers_and_what_ran_on_them(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    before = store.topology(number)
    last = before.nodes[-1].name
    shape = modify(before, {last: WantedCount(1)}, suffixes=3).finished
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(Reshaped(number, shape),))))
    found = reopen().topology(number)
    assert equal(found, shape)
    assert found.gone.any()
    assert found.started is None
    assert len(found) == len(before)


def test_whoever_has_read_a_topology_before_sees_its_next_shape(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    held = store.topology(number)
    shape = altered(held, counts={"x": 1})
    with store.own("test"):
        assert store.topology(number) is held, "what is at hand is not read again"
        store.commit(a.turn(payload=TurnPayload(reshaped=(Reshaped(number, shape),))))
    assert dict(store.topology(number).counts) == {"x": 1}


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_comes_with_a_new_shape_is_replaced_and_everything_else_stays(reopen: Reopen, is_whole: bool) -> None:
    store = reopen()
    number, _ = a.installed(store)
    before = store.topology(number)
    (row,) = store.deployments()
    inputs = store.inputs(number)
    other = altered(before.blueprint, description="Other", file="other.yaml")
    code = CodeLocation("/elsewhere", ("/plugins",), (("base", "/base"),))
    shape = altered(before, blueprint=other) if is_whole else before
    change = Reshaped(number, shape, other, {"count": 9}, code) if is_whole else Reshaped(number, shape)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(change,))))
    store = reopen()
    (found,) = store.deployments()
    told = (found.blueprint_file, found.description, found.code, store.inputs(number), store.blueprint(number).file)
    kept = (row.blueprint_file, row.description, row.code, inputs, before.blueprint.file)
    assert told == (("other.yaml", "Other", code, {"count": 9}, "other.yaml") if is_whole else kept)
