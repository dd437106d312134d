"""The graph of a state: who enters, which phases come in which order, who leaves (phases.md, section 6)."""

from dataclasses import replace

import numpy as np
from tests.run.yard import phase

from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, NODE
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import Mark
from phaseline.model.phases.definitions import PhaseDefinition
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.plan.states.state_graph import (
    ResourceGroup,
    late_graph,
    next_groups,
    removal_graph,
    same_for,
    state_graph,
)

SUBJECTS = np.array([3, 5, 9], np.int32)


def registry(*phases: PhaseDefinition) -> PhaseRegistry:
    return PhaseRegistry(phases)


def planned(state: str, *phases: PhaseDefinition, target: str = "Started") -> Graph:
    path = DEFAULT_TYPES.path(NODE, target)
    assert path is not None
    numbers = {name: 64 + place for place, name in enumerate(path.states)}
    return state_graph(ResourceGroup(NODE, path, state, SUBJECTS), registry(*phases), numbers)


def steps(graph: Graph) -> list[str]:
    return [step.phase for step in graph.steps]


def needs(graph: Graph) -> dict[str, list[str]]:
    """{step: the steps it waits for}; each entry waits for those of its own subject."""
    found: dict[str, list[str]] = {step.phase: [] for step in graph.steps}
    step_of = np.repeat(np.arange(len(graph.steps)), [step.count for step in graph.steps])
    for position in range(len(graph)):
        for dependent in graph.idx[graph.ptr[position] : graph.ptr[position + 1]].tolist():
            assert graph.subject[dependent] == graph.subject[position]
            name = graph.steps[step_of[dependent]].phase
            before = graph.steps[step_of[position]].phase
            if before not in found[name]:
                found[name].append(before)
    return found


def test_a_state_is_entered_before_its_phases_and_left_after_all_of_them() -> None:
    graph = planned("Allocation", phase("A"), phase("B", "Allocation", "A"))
    assert (graph.name, steps(graph)) == (
        "Allocation",
        ["state:Allocation", "phase:A", "phase:B", "exit:Allocation"],
    )
    assert needs(graph) == {
        "state:Allocation": [],
        "phase:A": ["state:Allocation"],
        "phase:B": ["phase:A"],
        "exit:Allocation": ["phase:A", "phase:B"],
    }
    assert graph.subject.reshape(4, 3).tolist() == [SUBJECTS.tolist()] * 4
    assert [policy.leave for policy in graph.policies] == [(65,), (), (), ()]


def test_pd25_states_without_phases_are_entered_one_after_the_other() -> None:
    graph = planned("Validation", phase("A", "Configuration"))
    assert graph.name == "Configuration"
    entered = ["state:Validation", "state:Allocation", "state:Initialization", "state:Configuration"]
    assert steps(graph) == [*entered, "phase:A", "exit:Configuration"]
    assert needs(graph)["state:Allocation"] == ["state:Validation"]
    assert (graph.marks[:3] == Mark.ABSENT | Mark.ANNOUNCE).all()


def test_pd26_the_last_state_has_no_phases_and_no_exit() -> None:
    assert steps(planned("Installation", phase("A", "Started"))) == ["state:Installation", "state:Started"]


def test_what_may_not_apply_or_cannot_be_used_is_asked_for() -> None:
    broken = replace(phase("D"), error="no")
    graph = planned("Allocation", phase("A"), phase("B", constraint="X"), phase("C", providers=("p",)), broken)
    asked = {step.phase: bool(graph.marks[step.first] & Mark.CONDITIONAL) for step in graph.steps}
    assert [asked[f"phase:{name}"] for name in "ABCD"] == [False, True, True, True]


def test_pd29_in_place_of_a_phase_for_another_type_what_it_needs_is_needed() -> None:
    other = replace(phase("B", "Allocation", "A"), resource_types=("Disk",))
    graph = planned("Allocation", phase("A"), other, phase("C", "Allocation", "B"))
    assert "phase:B" not in steps(graph)
    assert needs(graph)["phase:C"] == ["phase:A"]


def test_pd8_a_need_that_nobody_has_defined_has_an_entry() -> None:
    graph = planned("Allocation", phase("A", "Allocation", "Gone"))
    assert needs(graph)["phase:A"] == ["phase:Gone"]
    assert needs(graph)["exit:Allocation"] == ["phase:A", "phase:Gone"]


def test_phases_may_be_repeated_and_what_was_canceled_stays_so() -> None:
    policy = planned("Allocation", phase("A", policy={"max_batch": 7, "retry_limit": 2})).policies[1]
    assert (policy.repeatable, policy.cancel_wins, policy.max_retries) == (True, True, 2)
    assert (policy.lane.phase, policy.lane.form, policy.lane.max_batch) == ("phase:A", "bulk", 7)


def test_pd30_who_begins_enters_the_state_it_is_in_or_the_first_one() -> None:
    standing = [
        (NODE, "", np.array([0], np.int32)),
        (NODE, "Configuration", np.array([1, 4], np.int32)),
        (NODE, "Terminated", np.array([2], np.int32)),
        (NODE, "Started", np.array([3], np.int32)),
    ]
    groups, lost = next_groups(standing, "Started", registry(), passed=False)
    assert [(group.state, group.subjects.tolist()) for group in groups] == [
        ("Validation", [0, 2]),
        ("Configuration", [1, 4]),
    ]
    assert lost == []


def test_who_has_left_a_state_enters_the_next_one() -> None:
    groups, _ = next_groups([(NODE, "Allocation", SUBJECTS)], "Started", registry(), passed=True)
    assert [group.state for group in groups] == ["Initialization"]


def test_a_type_without_a_way_to_the_target_is_told() -> None:
    groups, lost = next_groups([(NODE, "", SUBJECTS)], "Nowhere", registry(), passed=False)
    assert groups == []
    assert [(one.resource_type, one.subjects.tolist()) for one in lost] == [(NODE, [3, 5, 9])]


def test_who_is_no_more_enters_one_state_and_nothing_else() -> None:
    graph = removal_graph(np.array([9, 3]), 63)
    assert (graph.name, graph.subject.tolist(), graph.policies[0].leave) == ("removed", [3, 9], (63,))


def test_the_graph_of_as_many_others_differs_in_its_subjects_alone() -> None:
    first = planned("Validation", phase("A", "Allocation"), phase("B", "Allocation", "A"))
    others = np.array([40, 41, 77], np.int32)
    again = same_for(first, others)
    assert again.subject.reshape(-1, 3).tolist() == [others.tolist()] * len(first.steps)
    assert replace(again, subject=first.subject) == first


def test_pd29_what_is_named_twice_on_the_way_through_phases_of_other_types_is_waited_for_once() -> None:
    first = phase("A")
    left, right = (
        replace(phase(name, "Allocation", "A"), resource_types=("Cloud.Disk",)) for name in ("Left", "Right")
    )
    graph = planned("Allocation", first, left, right, phase("B", "Allocation", "Left", "Right"))
    assert needs(graph)["phase:B"] == ["phase:A"]


def test_pd53_a_phase_that_comes_late_waits_for_no_need_that_is_behind_its_group() -> None:
    """Neither for a phase that the group has had, nor for one that nobody had defined and that was mended by hand."""
    path = DEFAULT_TYPES.path(NODE, "Started")
    assert path is not None
    known = registry(phase("A"), phase("B", "Allocation", "A", "Gone"))
    graph = late_graph(ResourceGroup(NODE, path, "Allocation", SUBJECTS), known, ["A", "Gone"], 65)
    assert graph is not None
    assert steps(graph) == ["state:Allocation", "phase:B", "phase:A", "phase:Gone", "exit:Allocation"]
    assert needs(graph)["phase:B"] == ["state:Allocation"]
