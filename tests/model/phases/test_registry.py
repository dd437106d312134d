"""Phases by what the engine asks for; circles are found however long they are."""

import pickle

from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, MAX_PARENTS, ResourceType, ResourceTypes, StatePath
from phaseline.model.phases.definitions import Attributes, ListenerDefinition, PhaseDefinition, PhasePolicy
from phaseline.model.phases.registry import PhaseRegistry, circles


def phase(name: str, *after: str, states: tuple[str, ...] = ("Allocation",), error: str = "") -> PhaseDefinition:
    return PhaseDefinition(name, name.lower(), states, ("Cloud.Node",), dependencies=after, error=error)


def names(found: tuple[PhaseDefinition, ...]) -> list[str]:
    return [one.name for one in found]


def test_phases_are_found_by_state_and_type_in_the_order_of_their_names() -> None:
    registry = PhaseRegistry([phase("B"), phase("A"), phase("C", states=("Configuration", "Allocation"))])
    assert names(registry.of("Allocation", "Cloud.Node")) == ["A", "B", "C"]
    assert names(registry.of("Configuration", "Cloud.Node")) == ["C"]
    assert registry.of("Configuration", "Cloud.Node") is registry.of("Configuration", "Cloud.Node")
    assert registry.of("Allocation", "Cloud.Disk") == ()
    assert registry.of("Elsewhere", "Cloud.Node") == ()


def test_a_type_matches_those_above_it() -> None:
    types = DEFAULT_TYPES.with_more([ResourceType("Web", "Cloud.Node"), ResourceType("Front", "Web")])
    registry = PhaseRegistry([phase("A")], types=types)
    assert names(registry.of("Allocation", "Front")) == ["A"]


def test_names_are_one_whatever_the_case_and_the_first_is_kept() -> None:
    registry = PhaseRegistry([phase("Acme.Create"), phase("acme.create", states=("Validation",))])
    found = registry.get("ACME.CREATE")
    assert found is not None
    assert found.states == ("Allocation",)
    assert len(registry.phases) == 1


def test_needs_count_within_the_state_and_are_named_as_they_are_defined() -> None:
    after = phase("After", "first", "Late", "Gone", states=("Allocation", "Configuration"))
    registry = PhaseRegistry([after, phase("First"), phase("Late", states=("Configuration",))])
    assert registry.needs(after, "Allocation") == ("First", "Gone")
    assert registry.needs(after, "Configuration") == ("Late", "Gone")
    assert registry.obstacles(after) == ("it depends on 'Gone', which is not loaded",)


def test_a_phase_that_cannot_be_used_is_its_own_obstacle() -> None:
    broken = phase("A", error="it is broken")
    assert not broken.is_valid
    assert PhaseRegistry([broken]).obstacles(broken) == ("it is broken",)


def test_phases_that_are_still_needed_stay_known() -> None:
    registry = PhaseRegistry([phase("A")])
    known = registry.still_knowing({"a": None, "B": None, "C": phase("C")}, "nobody defines it")
    assert [(one.name, one.error) for one in known.phases] == [
        ("A", ""),
        ("B", "nobody defines it"),
        ("C", "nobody defines it"),
    ]
    assert names(known.of("Allocation", "Cloud.Node")) == ["A", "C"]


def test_listeners_by_state_and_type() -> None:
    every = ListenerDefinition("every")
    started = ListenerDefinition("started", ("Started",), ("Cloud.Node",))
    broken = ListenerDefinition("broken", error="no")
    registry = PhaseRegistry([], [every, started, broken])
    assert registry.listeners_of("Started", "Cloud.Node") == (every, started)
    assert registry.listeners_of("Started", "Cloud.Disk") == (every,)
    assert registry.listeners_of("Allocation", "Cloud.Node") == (every,)


def test_providers_match_whatever_the_case_and_a_resource_without_one_only_phases_without() -> None:
    aws = PhaseDefinition("A", "a", ("S",), ("T",), ("AWS",))
    every = PhaseDefinition("B", "b", ("S",), ("T",))
    assert [aws.takes_provider(name) for name in ("aws", "Azure", None)] == [True, False, False]
    assert [every.takes_provider(name) for name in ("aws", None)] == [True, True]


def test_a_long_circle_is_found_without_recursion() -> None:
    chain = [phase(f"P{number}", f"P{number + 1}") for number in range(5_000)]
    assert circles(chain) == []
    [found] = circles([*chain, phase("P5000", "P0")])
    assert len(found) == 5_001


def test_two_circles_are_told_and_a_circle_of_two_states_once() -> None:
    both = ("Allocation", "Configuration")
    found = circles([phase("A", "B", states=both), phase("B", "A", states=both), phase("C", "D"), phase("D", "C")])
    assert sorted(found) == [("A", "B"), ("C", "D")]


def test_paths_are_inherited_and_may_be_replaced() -> None:
    types = DEFAULT_TYPES.with_more(
        [ResourceType("Web", "Cloud.Node")], [StatePath("Web", "Started", ("Making", "Started"))]
    )
    web, node = types.path("Web", "Started"), types.path("Cloud.Node", "Started")
    assert web is not None
    assert node is not None
    assert web.states == ("Making", "Started")
    assert (node.after("Validation"), node.after("Started"), node.after("Making")) == ("Allocation", None, None)
    assert (node.group("Validation"), web.group("Making")) == ("Acquiring", "Making")
    assert types.path("Web", "Terminated") == DEFAULT_TYPES.path("Cloud.Node", "Terminated")
    assert types.path("Web", "Nowhere") is None
    assert {path.target for path in types.paths_of("Web")} == {"Started", "Terminated"}
    assert types.is_last("Cloud.Node", "Started")
    assert not types.is_last("Cloud.Node", "Making")


def test_pd1_the_path_of_nodes_is_that_of_the_source() -> None:
    path = DEFAULT_TYPES.path("Cloud.Node", "Started")
    assert path is not None
    assert path.states == (*("Validation", "Allocation", "Initialization", "Configuration", "Installation", "Started"),)


def test_a_circle_of_parents_has_an_end() -> None:
    types = ResourceTypes([ResourceType("A", "B"), ResourceType("B", "A")])
    assert types.line("A") == ("A", "B")
    assert types.attributes_of("A") is None
    assert ResourceTypes([ResourceType("A", attributes=("Size",))]).attributes_of("A") == {"size"}


def test_a_line_of_parents_without_end_is_cut() -> None:
    many = ResourceTypes([ResourceType(str(number), str(number + 1)) for number in range(500)])
    assert len(many.line("0")) == MAX_PARENTS + 1


def test_attributes_are_values() -> None:
    one, other = Attributes([("Color", 1), ("COLOR", 2)]), Attributes({"color": 2})
    assert one == other
    assert hash(one) == hash(other)
    assert one != {"Color": 2}
    assert repr(one) == "Attributes({'Color': 2})"
    assert "x" not in one
    assert 3 not in one
    assert pickle.loads(pickle.dumps(PhasePolicy(max_batch=3))) == PhasePolicy(max_batch=3)
