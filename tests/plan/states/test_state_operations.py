"""Nodes on paths of states in the graphs of install and uninstall (decision 15), held by the naive executor of graphs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dsl.readers import Texts
from tests.plan.naive import World

from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.blueprint.state_paths import DEFAULT_TYPES
from phaseline.model.execution.execution import History, Request, StatePathIndex
from phaseline.model.graph.status import Mark
from phaseline.model.phases.definitions import PhaseDefinition
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.model.resources.state_graph_names import state_name, state_numbers
from phaseline.plan.preview.graph_simulation import waves
from phaseline.plan.states.state_operations import path_problems, states_of
from phaseline.plan.topology.expansion import expand
from phaseline.plan.workflows import PLANNERS

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
plugins: {p: {executor: central_deployment_agent, install: false}}
node_types:
  Server: {derived_from: cloudify.nodes.Compute, resource_type: Cloud.Node, target_state: Started}
  Disk: {derived_from: cloudify.nodes.Root, resource_type: Cloud.Disk, target_state: Attached}
state_paths:
  Cloud.Disk:
    Attached: [Allocation, Attached]
    Terminated: [Deallocation, Terminated]
node_templates:
  server:
    type: Server
    instances: {deploy: 2}
    interfaces:
      cloudify.interfaces.lifecycle: {create: p.m.create, configure: p.m.configure, start: p.m.start, stop: p.m.stop, delete: p.m.delete}
      cloudify.interfaces.validation: {create: p.m.validate}
    relationships:
      - type: cloudify.relationships.connected_to
        target: disk
        source_interfaces: {cloudify.interfaces.relationship_lifecycle: {preconfigure: p.m.pre, establish: p.m.establish, unlink: p.m.unlink}}
  disk: {type: Disk}
  app:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: p.m.create, stop: p.m.stop}}
    relationships: [{type: cloudify.relationships.connected_to, target: server}]
  network:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: p.m.create, delete: p.m.delete}}
"""


def phase(name: str, states: str, types: str = "Cloud.Node", needs: tuple[str, ...] = (), constraint: str = ""):
    return PhaseDefinition(name, name, (states,), (types,), dependencies=needs, constraint=constraint)


PHASES = (
    phase("A.Tag", "Allocation", needs=("Make",)),
    phase("Make", "Allocation"),
    phase("Buy", "Allocation", "Cloud.Disk"),
    phase("Late", "Installation", constraint="x > 1"),
    phase("Drop", "Deallocation", "Cloud.Disk"),
    phase("Free", "Deallocation"),
    phase("OfServers", "Configuration", "Server"),
)


class Paths(World):
    """A world whose planner knows of paths."""

    def go(self, workflow: str, known: StatePathIndex, **parameters: object):
        answer = PLANNERS[workflow](
            self.topology,
            Request(workflow, parameters),
            History(self.states.copy(), paths=known),
            lambda _: Declaration(),
        )
        self.lines = []
        self.last = answer
        self.carry_out(answer)
        return answer


def world(text: str = BLUEPRINT, phases: tuple[PhaseDefinition, ...] = PHASES):
    blueprint = read_blueprint("blueprint.yaml", Texts({"blueprint.yaml": text}))
    topology = expand(blueprint, suffixes=1)
    registry = PhaseRegistry(phases, (), DEFAULT_TYPES).of_blueprint(blueprint)
    assert list(path_problems(blueprint, registry)) == []
    names = states_of(blueprint, registry)
    made = Paths.fresh(topology)
    made.names = names
    return made, StatePathIndex(registry, state_numbers(names)), names


def test_decision15_operations_run_in_the_states_they_map_to_and_phases_beside_them():
    world_, known, names = world()
    world_.go("install", known)
    states = [state_name(int(number), names) for number in world_.states]
    by_node = {world_.topology.nodes[int(n)].name: s for n, s in zip(world_.topology.node, states, strict=True)}
    assert by_node == {"disk": "Attached", "network": "started", "server": "Started", "app": "started"}
    ids = world_.topology.ids
    server = ids[int(world_.topology.instances_of(world_.topology.node_number["server"])[0])]
    disk = ids[int(world_.topology.instances_of(world_.topology.node_number["disk"])[0])]
    app = ids[int(world_.topology.instances_of(world_.topology.node_number["app"])[0])]

    at = world_.place
    assert at(f"phase:Buy {disk}") < at(f"validation.create {server}")
    assert at(f"phase:Make {server}") < at(f"phase:A.Tag {server}") < at(f"configure {server}")
    assert at(f"create {server}") < at(f"phase:OfServers {server}") < at(f"start {server}")
    assert at(f"phase:Late {server}") < at(f"create {app}")
    assert at(f"start {server}") < at(f"create {app}")


def test_decision15_a_type_goes_only_through_what_is_for_it_and_below():
    world_, known, _ = world()
    world_.go("install", known)
    disk = world_.of(world_.topology.ids[int(world_.topology.instances_of(world_.topology.node_number["disk"])[0])])
    assert [word for word in disk if "=" not in word] == ["phase:Buy"]


def test_decision15_uninstall_drives_to_terminated_after_whoever_depends_on_it():
    world_, known, names = world()
    world_.go("install", known)
    world_.go("uninstall", known)
    states = {state_name(int(number), names) for number in world_.states}
    assert states == {"Terminated", "deleted"}
    order = {line: number for number, line in enumerate(world_.lines)}
    ids = world_.topology.ids
    one = {
        node: ids[int(world_.topology.instances_of(number)[0])] for node, number in world_.topology.node_number.items()
    }
    assert order[f"stop {one['app']}"] < order[f"stop {one['server']}"]
    assert order[f"stop {one['server']}"] < order[f"phase:Free {one['server']}"] < order[f"phase:Drop {one['disk']}"]


def test_decision15_who_was_never_installed_has_nothing_to_be_taken_away():
    world_, known, _ = world()
    world_.go("uninstall", known)
    assert world_.calls == []


def test_decision15_who_stands_in_a_state_of_the_path_enters_it_afresh_and_who_has_arrived_stays():
    world_, known, _ = world()
    servers = world_.topology.instances_of(world_.topology.node_number["server"]).tolist()
    world_.states[servers[0]] = known.numbers["Installation"]
    world_.states[servers[1]] = known.numbers["Started"]
    world_.go("install", known)
    called = {
        number: [line for line in world_.calls if line.endswith(world_.topology.ids[number])] for number in servers
    }
    assert [line.partition(" ")[0] for line in called[servers[0]]] == ["start", "phase:Late"]
    assert called[servers[1]] == []


def test_decision15_a_gate_is_asked_only_where_a_phase_may_begin_to_apply_late():
    world_, known, _ = world()
    graph = world_.go("install", known)
    gates = {step.phase: int(graph.marks[step.first]) for step in graph.steps if step.phase.startswith("exit:")}
    assert gates["exit:Installation"] == Mark.ABSENT | Mark.CONDITIONAL
    assert gates["exit:Allocation"] == Mark.ABSENT


@pytest.mark.parametrize("workflow", ["install", "uninstall"])
def test_decision15_what_an_entry_waits_for_lies_in_an_earlier_step(workflow):
    world_, known, _ = world()
    if workflow == "uninstall":
        world_.go("install", known)
    graph = world_.go(workflow, known)
    starts = np.array([step.first for step in graph.steps])
    of = np.searchsorted(starts, np.arange(len(graph)), side="right") - 1
    for position in range(len(graph)):
        behind = graph.idx[graph.ptr[position] : graph.ptr[position + 1]]
        assert (of[behind] > of[position]).all()
    assert waves(graph).max() > 3


def test_decision15_phases_that_nobody_defined_have_an_entry_that_waits():
    world_, known, _ = world(phases=(phase("Make", "Allocation", needs=("Missing",)),))
    graph = world_.go("install", known)
    missing = [step for step in graph.steps if step.phase == "phase:Missing"]
    assert [int(graph.marks[step.first]) for step in missing] == [Mark.CONDITIONAL]


def test_decision15_operations_of_a_path_without_their_homes_run_in_the_state_before():
    text = (
        BLUEPRINT.replace("target_state: Attached}", "target_state: Up}\n  Odd: {derived_from: Disk, target_state: Up}")
        .replace("  Cloud.Disk:\n", "  Odd: {Up: [Ordered, Up]}\n  Disk: {Up: [Allocation, Up]}\n  Cloud.Disk:\n")
        .replace(
            "disk: {type: Disk}",
            "disk: {type: Odd, interfaces: {cloudify.interfaces.lifecycle: {create: p.m.c, start: p.m.s}}}",
        )
    )
    world_, known, names = world(text)
    world_.go("install", known)
    disk = world_.topology.ids[int(world_.topology.instances_of(world_.topology.node_number["disk"])[0])]
    calls = [word for word in world_.of(disk) if "=" not in word]
    assert calls == ["create", "start"]
    assert state_name(int(world_.states[world_.topology.number_of[disk]]), names) == "Up"


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("resource_type: Cloud.Node", "resource_type: Cloud.Nod"), "PL-P020", "did you mean 'Cloud.Node'"),
        (("target_state: Started", "target_state: Startd"), "PL-P021", "did you mean 'Started'"),
        (("    Terminated: [Deallocation, Terminated]\n", ""), "PL-P021", "'Disk' has no path to 'Terminated'"),
        ((", target_state: Attached}", "}"), "", ""),
        (
            (
                ", target_state: Attached}\nstate_paths:\n  Cloud.Disk:\n",
                "}\nstate_paths:\n  Cloud.Disk:\n    Other: [Other]\n",
            ),
            "PL-P021",
            "is not set",
        ),
    ],
)
def test_decision15_types_and_targets_that_are_not_known_are_told_at_the_type(change, code, said):
    text = BLUEPRINT.replace(*change)
    assert text != BLUEPRINT
    blueprint = read_blueprint("blueprint.yaml", Texts({"blueprint.yaml": text}))
    found = list(path_problems(blueprint, PhaseRegistry().of_blueprint(blueprint)))
    assert [problem.code for problem in found] == ([code] if code else [])
    for problem in found:
        assert said in problem.message + problem.mend
        assert problem.place.line in {6, 7}


def test_decision15_operations_of_relationships_run_in_their_states_too():
    world_, known, _ = world()
    world_.go("install", known)
    ids = world_.topology.ids
    server, disk = (
        ids[int(world_.topology.instances_of(world_.topology.node_number[node])[0])] for node in ("server", "disk")
    )
    between = f"{server}>{disk}:source"
    at = world_.place
    assert at(f"=Configuration {server}") < at(f"preconfigure {between}") < at(f"configure {server}")
    assert at(f"=Installation {server}") < at(f"start {server}") < at(f"establish {between}") < at(f"=Started {server}")
    world_.go("uninstall", known)
    assert at(f"stop {server}") < at(f"unlink {between}") < at(f"=Deallocation {server}") < at(f"delete {server}")


def test_decision15_several_relationships_of_a_state_are_one_after_the_other_and_all_before_the_next():
    more = "{cloudify.interfaces.relationship_lifecycle: {preconfigure: p.m.pre}}"
    text = BLUEPRINT.replace(
        "  disk: {type: Disk}\n",
        "  disk: {type: Disk, instances: {deploy: 3}}\n  other: {type: Disk, instances: {deploy: 2}}\n",
    ).replace(
        "unlink: p.m.unlink}}\n",
        "unlink: p.m.unlink}}\n"
        f"      - {{type: cloudify.relationships.connected_to, target: other, source_interfaces: {more}}}\n",
    )
    world_, known, _ = world(text)
    world_.go("install", known)
    server = world_.topology.ids[int(world_.topology.instances_of(world_.topology.node_number["server"])[0])]
    before = [number for number, line in enumerate(world_.lines) if line.startswith(f"preconfigure {server}>")]
    assert len(before) == 5
    assert world_.place(f"=Configuration {server}") < min(before)
    assert max(before) < world_.place(f"configure {server}")
