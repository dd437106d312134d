"""Heal (W30-W37, W64, W65, W67, WD3-WD6, decisions 16 and 17), rule by rule; first the example of the source document."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.declaration import Declaration
from phaseline.model.execution import History, Request
from phaseline.model.states import InstanceState as State
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import CONTAINED_IN, blueprint, host, node, relationship, topology
from phaseline.testing.rehearsal import fails, rehearse

LIFE = {"create": "p.c", "configure": "p.f", "start": "p.s", "stop": "p.o", "delete": "p.d"}
HEALS = {"preheal": "p.1", "heal": "p.2", "postheal": "p.3"}
TIES = {"preconfigure": "p.1", "postconfigure": "p.2", "establish": "p.3", "unlink": "p.4"}


def example():
    """The blueprint of the source document; every relationship has operations, so that re-establishing can be seen."""
    both = {"check_status": "p.check", **LIFE}
    return (
        host("webserver_host", relationship("floating_ip", source=TIES), heal="p.2", **both),
        node("webserver", relationship("webserver_host", CONTAINED_IN, source=TIES), heal="p.2", **both),
        node(
            "module",
            relationship("webserver", CONTAINED_IN, source=TIES),
            relationship("database", source=TIES),
            **LIFE,
        ),
        node("database", heal="p.2", **both),
        node("floating_ip", **both),
    )


def fails_as_in_the_example(line):
    return line in {
        "validation.check_status webserver_host_1",
        "validation.check_status webserver_1",
        "validation.check_status database_1",
        "heal webserver_1",
        "heal database_1",
    }


def world_of(*nodes, **states):
    """All started, but for ``web_1="stopped"`` and so on."""
    world = World.fresh(topology(blueprint(*nodes)), State.STARTED)
    for id, state in states.items():
        world.states[world.topology.number_of[id]] = State[state.upper()]
    return world


def reinstalled(world):
    """The instances that were stopped, and created anew afterwards."""
    again = {id for id in world.topology.ids if f"create {id}" in world.lines}
    assert all(world.place(f"stop {id}") < world.place(f"create {id}") for id in again if f"stop {id}" in world.lines)
    return again


def asked(*nodes, rounds=(), canceled=False, attempt=0, **parameters):
    built = topology(blueprint(*nodes))
    history = History(np.full(len(built), State.STARTED, np.uint8), tuple(rounds), canceled, attempt)
    return PLANNERS["heal"](built, Request("heal", parameters), history, lambda _: Declaration())


# The example of the source document, node by node.


@pytest.fixture
def healed():
    world = world_of(*example())
    world.verdict = world.run("heal", fails=fails_as_in_the_example)
    return world


def test_w37_example_webserver_host_fails_its_check_so_it_is_healed(healed):
    assert "heal webserver_host_1" in healed.lines
    assert "webserver_host_1" not in reinstalled(healed)
    assert healed.verdict.status.value == "completed"


def test_w37_example_webserver_fails_its_check_and_its_heal_so_it_is_reinstalled(healed):
    assert healed.place("heal webserver_1") < healed.place("stop webserver_1")
    assert "webserver_1" in reinstalled(healed)


def test_w37_example_module_is_reinstalled_because_webserver_contains_it(healed):
    assert "heal module_1" not in healed.lines
    assert "module_1" in reinstalled(healed)


def test_w37_example_database_is_reinstalled_and_the_relationship_of_module_to_it_is_established_again(healed):
    assert reinstalled(healed) == {"webserver_1", "module_1", "database_1"}
    tie = [line for line in healed.calls if "module_1>database_1" in line]
    assert [line.split()[0] for line in tie] == ["unlink", "preconfigure", "postconfigure", "establish"]
    assert healed.place("start database_1") < healed.place("establish module_1>database_1:source")


def test_w37_example_floating_ip_is_neither_healed_nor_reinstalled_nor_tied_anew(healed):
    assert [line for line in healed.calls if "floating_ip_1" in line] == ["validation.check_status floating_ip_1"]
    assert set(map(healed.state, healed.topology.ids)) == {"started"}


def test_w37_example_in_the_engine_has_the_same_end():
    outcomes = {
        "webserver_host.check_status": fails("down"),
        "webserver.check_status": fails("down"),
        "database.check_status": fails("down"),
        "webserver.heal": fails("no"),
        "database.heal": fails("no"),
    }
    played = rehearse(blueprint(*example()), "heal", outcomes=outcomes)
    assert (played.status, set(played.states.values())) == ("completed", {"started"})
    created = {call.instances[0] for call in played.calls if call.operation == "create"}
    assert created == {"webserver_1", "module_1", "database_1"}
    tied = [call for call in played.order if "webserver_host_1->floating_ip_1" in call]
    assert tied == []


@pytest.mark.parametrize("crash", range(1, 30, 3))
def test_w8_the_example_comes_to_the_same_end_whenever_the_engine_dies(crash):
    table = {
        "webserver_host.check_status": [fails("down")] * 9,
        "webserver.check_status": [fails("down")] * 9,
        "database.check_status": [fails("down")] * 9,
        "webserver.heal": [fails("no")] * 9,
        "database.heal": [fails("no")] * 9,
    }
    played = rehearse(blueprint(*example()), "heal", outcomes=table, crash_in=[crash])
    assert (played.status, set(played.states.values()), played.crashes) == ("completed", {"started"}, 1)
    finished = [call for call in played.calls if "died" not in call.outcomes]
    created = sorted(call.instances[0] for call in finished if call.operation == "create")
    assert created == ["database_1", "module_1", "webserver_1"]
