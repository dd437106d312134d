"""Which states the nodes of a plan go through, and what is called in each."""

from tests.plan.states.test_state_operations import world

from phaseline.plan.states.state_summary import states_by_node


def test_decision15_each_node_on_a_path_has_its_states_with_the_calls_of_its_instances() -> None:
    made, known, _ = world()
    found = states_by_node(made.topology, made.go("install", known))
    told = {
        made.topology.nodes[number].name: [
            (state.name, state.count, [call.name for call in state.calls]) for state in states
        ]
        for number, states in found.items()
    }
    assert told["disk"] == [("Allocation", 1, ["Buy"]), ("Attached", 1, [])]
    assert [state for state, _, _ in told["server"]][-2:] == ["Installation", "Started"]
    called = [name for _, _, calls in told["server"] for name in calls]
    assert not any("relationship_lifecycle" in name for name in called), "a relationship is no instance"
    assert set(told) == {"disk", "server"}


def test_a_workflow_that_leads_through_no_states_has_none_to_show_for_nodes_on_paths() -> None:
    made, known, _ = world()
    graph = made.go("execute_operation", known, operation="configure", skip_undeclared=True)
    assert len(graph), "the servers are called"
    assert states_by_node(made.topology, graph) == {}
