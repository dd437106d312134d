"""Resources go from state to state: who enters, who leaves, who waits for whom (phases.md, sections 4 and 6)."""

from dataclasses import replace

import numpy as np
from tests.run.engines import all_of
from tests.run.yard import Yard, phase

from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, NODE, ResourceType, StatePath
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import RequestKind

FAILED, AGAIN = OutcomeKind.FAILED, OutcomeKind.AGAIN


def test_p15_resources_that_reach_a_state_together_come_in_one_run() -> None:
    yard = Yard(phase("Create"))
    names = [f"n{number}" for number in range(200)]
    row = yard.start(*names)
    assert yard.runs() == [("Create", names)]
    yard.post(all_of(yard.executor.batches[1]))
    assert {yard.state(name) for name in names} == {"Started"}
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_p16_who_enters_during_a_run_comes_in_the_next_one_together_with_others() -> None:
    yard = Yard(phase("Create"))
    yard.start("a", "b")
    for name in "cdefg":
        yard.start(name)
    assert [yard.stay(name)["Create"] for name in "ac"] == ["running", "waiting"]
    yard.post(all_of(yard.executor.batches[1]))
    assert yard.runs()[1:] == [("Create", list("cdefg"))]


def test_p20_a_sleeper_that_is_due_and_new_ones_come_in_one_run() -> None:
    """While another run goes on, the sleeper's time comes and others enter."""
    yard = Yard(phase("Create"))
    yard.start("a")
    yard.answer(yard.find("Create", "a"), AGAIN, delay_ms=15_000)
    assert yard.stay("a") == {"Create": "sleeping"}
    yard.start("z")
    yard.pass_time(15)
    yard.start("b", "c", "d")
    yard.complete("Create", "z")
    ((name, members),) = yard.runs()[2:]
    assert (name, sorted(members)) == ("Create", ["a", "b", "c", "d"])


def test_p21_a_sleeper_that_is_not_due_stays_out() -> None:
    yard = Yard(phase("Create"))
    yard.start("a")
    yard.answer(yard.find("Create", "a"), AGAIN, delay_ms=15_000)
    yard.start("b")
    assert yard.runs()[1:] == [("Create", ["b"])]


def test_p39_a_state_is_left_when_all_its_phases_are_completed() -> None:
    yard = Yard(phase("One"), phase("Two"), phase("Next", "Configuration"))
    yard.start("a")
    assert yard.state("a") == "Allocation"
    yard.complete("One", "a")
    assert yard.state("a") == "Allocation"
    yard.complete("Two", "a")
    assert (yard.state("a"), yard.names()) == ("Configuration", [("Next", "a")])


def test_only_graphs_in_which_somebody_is_are_held() -> None:
    yard = Yard(phase("One"), phase("Next", "Configuration"), phase("Last", "Installation"))
    yard.start("a", "b")
    arena = yard.engine.scheduler.arena
    yard.complete("One", "a")
    assert [slot.name for slot in arena.slots.values()] == ["Allocation", "Configuration"]
    yard.complete("One", "b")
    assert [slot.name for slot in arena.slots.values()] == ["Configuration", "Configuration"]
    yard.complete("Next", "a")
    yard.crash()
    yard.complete("Next", "b")
    yard.complete("Last", "a")
    yard.complete("Last", "b")
    assert {yard.state(name) for name in "ab"} == {"Started"}


def test_p40_a_sleeping_phase_holds_the_resource() -> None:
    yard = Yard(phase("One"), phase("Two"))
    yard.start("a")
    yard.complete("One", "a")
    yard.answer(yard.find("Two", "a"), AGAIN, delay_ms=15_000)
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"One": "completed", "Two": "sleeping"})


def test_p41_a_state_without_phases_is_passed_through() -> None:
    yard = Yard(phase("Late", "Installation"))
    yard.start("a")
    assert (yard.state("a"), yard.stay("a")) == ("Installation", {"Late": "running"})


def test_p42_after_the_last_state_the_target_is_reached_and_nothing_is_scheduled() -> None:
    yard = Yard(phase("Late", "Installation"), phase("Never", "Started"))
    row = yard.start("a")
    yard.complete("Late", "a")
    assert (yard.state("a"), yard.status(row), yard.called()) == ("Started", ExecutionStatus.COMPLETED, [])
    assert not yard.engine.has_work
    assert yard.engine.wakes_at is None


def test_p42_resources_reach_the_target_though_there_is_no_phase_at_all() -> None:
    yard = Yard()
    row = yard.start("a", "b")
    assert (yard.state("a"), yard.state("b"), yard.status(row)) == ("Started", "Started", ExecutionStatus.COMPLETED)


def test_p43_a_failed_phase_holds_the_resource_though_the_other_completes() -> None:
    yard = Yard(phase("X"), phase("Y"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="quota")
    assert yard.stay("a") == {"X": "failed", "Y": "running"}
    yard.complete("Y", "a")
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"X": "failed", "Y": "completed"})
    assert yard.status(row) is ExecutionStatus.FAILED
    assert yard.row(row).reason == "1 of 1 resources have not reached Started: 1 in Allocation, 1 failed X"


def test_p44_two_phases_run_at_the_same_time_for_one_resource() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.start("a")
    assert sorted(yard.names()) == [("X", "a"), ("Y", "a")]


def test_p46_who_starts_again_begins_its_phases_with_empty_data() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    told = {"\0phases": {"X": {"Directory": "/tmp/1"}}}
    yard.answer(yard.find("X", "a"), properties=told)
    assert yard.data("a", "X") == {"Directory": "/tmp/1"}
    yard.reach("Terminated", "a")
    assert (yard.state("a"), yard.data("a", "X")) == ("Terminated", {"Directory": "/tmp/1"})
    yard.reach("Started", "a")
    assert (yard.stay("a"), yard.data("a", "X")) == ({"X": "running"}, None)


# -- dependencies --------------------------------------------------------------------------------------------------


def test_p59_a_dependent_is_blocked_until_the_other_is_completed() -> None:
    yard = Yard(phase("Volume"), phase("Instance", "Allocation", "Volume"))
    yard.start("a")
    assert yard.stay("a") == {"Instance": "blocked", "Volume": "running"}
    yard.complete("Volume", "a")
    assert yard.stay("a") == {"Instance": "running", "Volume": "completed"}


def test_p60_a_failed_dependency_blocks_until_it_is_retried() -> None:
    yard = Yard(phase("Volume"), phase("Instance", "Allocation", "Volume"))
    row = yard.start("a")
    yard.answer(yard.find("Volume", "a"), FAILED, message="no space")
    assert yard.stay("a") == {"Instance": "skipped", "Volume": "failed"}
    yard.ask(RequestKind.RETRY, row)
    assert yard.stay("a") == {"Instance": "blocked", "Volume": "running"}
    yard.complete("Volume", "a")
    assert yard.stay("a")["Instance"] == "running"


def test_p61_a_dependency_that_does_not_apply_is_passed_through() -> None:
    yard = Yard(phase("A"), phase("B", "Allocation", "A", constraint="Wanted"), phase("C", "Allocation", "B"))
    yard.start("a")
    assert yard.names() == [("A", "a")]
    yard.complete("A", "a")
    assert yard.stay("a") == {"A": "completed", "B": "passed", "C": "running"}


def test_p62_both_dependencies_must_be_completed() -> None:
    yard = Yard(phase("A"), phase("B"), phase("C", "Allocation", "A", "B"))
    yard.start("a")
    yard.complete("A", "a")
    assert yard.stay("a")["C"] == "blocked"
    yard.complete("B", "a")
    assert yard.stay("a")["C"] == "running"


def test_p63_a_dependent_runs_with_those_whose_dependency_is_completed() -> None:
    yard = Yard(phase("Volume"), phase("Instance", "Allocation", "Volume"))
    names = [f"n{number:03}" for number in range(100)]
    yard.start(*names)
    done = names[:50]
    yard.post(all_of(yard.executor.batches[1]).of(np.arange(100) < 50))
    assert yard.runs()[1:] == [("Instance", done)]


def test_p64_a_dependency_that_is_not_installed_blocks_until_it_is() -> None:
    yard = Yard(phase("Instance", "Allocation", "Volume"))
    yard.start("a")
    assert (yard.called(), yard.stay("a")) == ([], {"Instance": "blocked", "Volume": "waiting"})
    yard.source.phases.append(phase("Volume"))
    yard.renew()
    assert yard.names() == [("Volume", "a")]
    yard.complete("Volume", "a")
    yard.complete("Instance", "a")
    assert yard.state("a") == "Started"


def test_a_dependency_that_nobody_defines_is_forgotten_when_the_definition_is_mended() -> None:
    yard = Yard(phase("Instance", "Allocation", "Volum"))
    yard.start("a")
    assert (yard.called(), yard.stay("a")) == ([], {"Instance": "blocked", "Volum": "waiting"})
    yard.source.phases[:] = [phase("Instance")]
    yard.renew()
    assert yard.names() == [("Instance", "a")]
    yard.complete("Instance", "a")
    assert yard.state("a") == "Started"


def test_a_dependency_of_a_refused_definition_is_forgotten_also_by_an_engine_that_begins_later() -> None:
    yard = Yard(phase("Instance", "Allocation", "Volum", error="PL-D012"))
    yard.start("a")
    yard.source.phases[:] = [phase("Instance"), phase("Other", "Allocation", "Elsewhere")]
    yard.crash()
    assert yard.names() == [("Instance", "a")]


def test_a_dependency_that_another_phase_still_needs_is_waited_for() -> None:
    yard = Yard(phase("One", "Allocation", "Volum"), phase("Two", "Allocation", "Volum"))
    yard.start("a")
    yard.source.phases[:] = [phase("One"), phase("Two", "Allocation", "Volum")]
    yard.renew()
    assert (yard.called(), yard.stay("a")["Volum"]) == ([], "waiting")


def test_p94_a_plugin_that_is_removed_blocks_who_waits_until_it_is_there_again() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.start("a")
    yard.add("b")
    yard.answer(yard.find("X", "a"), AGAIN, delay_ms=15_000)
    removed = yard.source.phases.pop(0)
    yard.renew()
    yard.pass_time(15)
    assert ("X", "a") not in yard.names()
    yard.source.phases.append(removed)
    yard.renew()
    assert ("X", "a") in yard.names()


def test_p94_who_waits_for_a_removed_plugin_waits_after_a_crash_too() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    removed = yard.source.phases.pop(0)
    yard.crash()
    assert yard.called() == []
    yard.source.phases.append(removed)
    yard.renew()
    assert yard.names() == [("X", "a")]


# -- conditions and providers --------------------------------------------------------------------------------------


def test_p53_a_phase_whose_constraint_is_false_is_not_waited_for() -> None:
    yard = Yard(phase("X", constraint="Public"))
    row = yard.start("a", Public=False)
    assert (yard.state("a"), yard.runs(), yard.status(row)) == ("Started", [], ExecutionStatus.COMPLETED)


def test_p54_an_undefined_attribute_means_no() -> None:
    yard = Yard(phase("X", constraint="Size > 3"))
    yard.start("a")
    yard.start("b", Size=4)
    assert yard.runs() == [("X", ["b"])]


def test_p55_a_constraint_that_is_an_error_fails_the_phase_with_the_reason() -> None:
    yard = Yard(phase("X", constraint="Size > 3"))
    yard.start("a", Size={"deep": 1})
    assert yard.stay("a") == {"X": "failed"}
    assert yard.message("a", "X").startswith("ResourceConstraint 'Size > 3' is an error: ")


def test_p56_a_phase_of_another_provider_is_never_called() -> None:
    yard = Yard(phase("Acme", providers=("acme",)), phase("Any"))
    yard.start("a", Provider="aws")
    yard.start("b", Provider="ACME")
    yard.start("c")
    assert yard.runs() == [("Any", ["a"]), ("Acme", ["b"])]
    yard.complete("Any", "a")
    assert (yard.state("a"), yard.runs()[-1]) == ("Started", ("Any", ["b", "c"]))


DISK = "Acme.Disk"
DISKS = DEFAULT_TYPES.with_more([ResourceType(DISK)], [StatePath(DISK, "Started", ("Allocation", "Started"))])


def test_p56_a_provider_is_compared_only_for_types_that_have_one() -> None:
    yard = Yard(phase("Make", providers=("acme",), resource_types=(NODE, DISK)), types=DISKS)
    yard.add("disk", kind=DISK)
    yard.reach("Started", "disk")
    yard.start("node")
    assert yard.runs() == [("Make", ["disk"])]


def test_a_constraint_sees_what_a_nested_record_finds_in_the_resource() -> None:
    yard = Yard(phase("X", constraint="Disk.Public"))
    yard.start("a", Disk={"Size": 1}, Public=True)
    yard.start("b", Disk={"Size": 1})
    assert yard.runs() == [("X", ["a"])]


def test_p57_a_provider_that_validation_sets_counts_in_allocation() -> None:
    yard = Yard(phase("Choose", "Validation"), phase("Acme", providers=("acme",)))
    yard.start("a")
    yard.answer(yard.find("Choose", "a"), properties={"Provider": "acme"})
    assert yard.names() == [("Acme", "a")]


def test_p58_what_begins_to_apply_runs_before_the_state_is_left() -> None:
    yard = Yard(phase("A"), phase("B", constraint="FixedPublicIp isnt undefined"))
    yard.start("a")
    assert yard.stay("a") == {"A": "running", "B": "passed"}
    yard.answer(yard.find("A", "a"), properties={"FixedPublicIp": "1.2.3.4"})
    assert (yard.state("a"), yard.names()) == ("Allocation", [("B", "a")])
    yard.complete("B", "a")
    assert yard.state("a") == "Started"


# -- targets -------------------------------------------------------------------------------------------------------


def test_p65_who_sleeps_enters_the_new_path_at_once() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), AGAIN, delay_ms=15_000)
    yard.reach("Terminated", "a")
    assert (yard.state("a"), yard.names()) == ("Deconfiguration", [("Stop", "a")])
    assert yard.status(row) is ExecutionStatus.CANCELED
    yard.complete("Stop", "a")
    assert yard.state("a") == "Terminated"


def test_p66_what_runs_is_awaited_and_its_failure_counts_for_nothing() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    running = yard.find("X", "a")
    second = yard.reach("Terminated", "a")
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"X": "canceling"})
    assert yard.status(second) is ExecutionStatus.RUNNING
    yard.answer(running, FAILED, message="too late")
    assert (yard.state("a"), yard.names()) == ("Deconfiguration", [("Stop", "a")])
    yard.complete("Stop", "a")
    assert yard.status(second) is ExecutionStatus.COMPLETED


def test_with_force_a_resource_goes_on_at_once_and_what_its_call_brings_later_moves_nothing() -> None:
    yard = Yard(phase("X"), phase("Y", "Configuration"), phase("Stop", "Deconfiguration"))
    first = yard.start("a", "b")
    running = yard.find("X", "a")
    second = yard.reach("Terminated", "a", force=True)
    assert (yard.state("a"), yard.runs()[1:]) == ("Deconfiguration", [("Stop", ["a"])])
    yard.complete("X", "b")
    assert yard.runs()[2:] == [("Y", ["b"])], "the other one is as it was"
    yard.answer(running, properties={"InstanceId": "i-1"})
    assert (yard.state("a"), yard.document_of("a")) == ("Deconfiguration", {"InstanceId": "i-1"})
    yard.complete("Stop", "a")
    yard.complete("Y", "b")
    assert [yard.status(row) for row in (first, second)] == [ExecutionStatus.COMPLETED] * 2
    assert (yard.state("a"), yard.state("b")) == ("Terminated", "Started")


def test_with_force_it_goes_on_after_a_crash_too() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    yard.reach("Terminated", "a", force=True)
    yard.crash()
    assert yard.state("a") == "Deconfiguration"
    yard.complete("Stop", "a")
    assert yard.state("a") == "Terminated"


def test_p67_a_canceled_run_that_completes_moves_nothing_but_its_data_is_stored() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    running = yard.find("X", "a")
    yard.reach("Terminated", "a")
    yard.answer(running, properties={"InstanceId": "i-1"})
    assert (yard.state("a"), yard.names()) == ("Deconfiguration", [("Stop", "a")])
    assert yard.document_of("a") == {"InstanceId": "i-1"}


def test_p68_who_failed_is_terminated() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="no")
    yard.reach("Terminated", "a")
    assert yard.stay("a") == {"Stop": "running"}


def test_p69_the_other_resource_of_the_run_completes_normally() -> None:
    yard = Yard(phase("X"))
    first = yard.start("a", "b")
    yard.reach("Terminated", "a")
    yard.post(all_of(yard.executor.batches[1]))
    assert (yard.state("a"), yard.state("b")) == ("Terminated", "Started")
    assert yard.status(first) is ExecutionStatus.COMPLETED


def test_the_last_target_counts() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    running = yard.find("X", "a")
    yard.reach("Terminated", "a")
    third = yard.reach("Started", "a")
    yard.answer(running)
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"X": "running"})
    yard.complete("X", "a")
    assert (yard.state("a"), yard.status(third)) == ("Started", ExecutionStatus.COMPLETED)


def test_pd30_who_is_in_a_state_of_the_new_path_begins_it_afresh() -> None:
    yard = Yard(phase("V", "Validation"), phase("X"))
    yard.start("a")
    yard.complete("V", "a")
    yard.answer(yard.find("X", "a"), FAILED)
    yard.reach("Started", "a")
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"X": "running"})


# -- restart -------------------------------------------------------------------------------------------------------


def test_p74_what_ran_at_the_crash_is_called_again_with_the_stored_data() -> None:
    yard = Yard(phase("X"))
    row = yard.start("a", Size=3)
    yard.crash()
    assert (yard.names(), yard.document_of("a")) == ([("X", "a")], {"Size": 3})
    yard.complete("X", "a")
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)


def test_p75_a_sleeper_sleeps_on_after_a_crash_or_is_called_at_once() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), AGAIN, delay_ms=10_000)
    due = yard.engine.wakes_at
    yard.clock.advance_to(due - 7_000)
    yard.crash()
    assert (yard.called(), yard.engine.wakes_at) == ([], due)
    yard.clock.advance_to(due + 60_000)
    yard.crash()
    assert yard.names() == [("X", "a")]


def test_p77_who_was_being_canceled_at_the_crash_goes_on_to_the_new_target() -> None:
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    yard.start("a")
    yard.reach("Terminated", "a")
    yard.crash()
    assert (yard.state("a"), yard.names()) == ("Deconfiguration", [("Stop", "a")])


def test_p78_who_was_left_between_two_states_goes_on() -> None:
    yard = Yard(phase("X"), phase("Next", "Configuration"))
    yard.start("a", "b")
    yard.answered.add((1, 0))
    yard.inbox.post(yard.report(yard.one(yard.executor.batches[1], 0)))
    yard.engine.turn()
    assert yard.state("a") == "Allocation"
    yard.crash()
    assert (yard.state("a"), yard.names()) == ("Configuration", [("X", "b"), ("Next", "a")])


def test_resources_of_several_types_go_their_own_ways_in_one_request() -> None:
    types = DEFAULT_TYPES.with_more(
        [ResourceType("Disk"), ResourceType("Web", NODE)], [StatePath("Disk", "Started", ("Making", "Started"))]
    )
    disk = replace(phase("Make", "Making"), resource_types=("Disk",))
    yard = Yard(phase("X"), disk, types=types)
    yard.add("n")
    yard.add("w", kind="Web")
    yard.add("d", kind="Disk")
    row = yard.reach("Started")
    assert sorted(yard.names()) == [("Make", "d"), ("X", "n"), ("X", "w")]
    assert len(yard.runs()) == 2
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_pd53_a_phase_that_is_loaded_late_applies_to_those_that_have_not_left_the_state() -> None:
    yard = Yard(phase("X"))
    row = yard.start("a", "b")
    yard.complete("X", "b")
    assert yard.state("b") == "Started"
    yard.source.phases += [phase("Y"), phase("Z", "Allocation", "X", "Y")]
    yard.renew()
    yard.complete("X", "a")
    assert (yard.state("a"), yard.stay("a")) == ("Allocation", {"Y": "running", "Z": "blocked"})
    yard.crash()
    yard.complete("Y", "a")
    yard.complete("Z", "a")
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)
    yard.reach("Terminated", "a")
    yard.reach("Started", "a")
    assert yard.stay("a") == {"X": "running", "Y": "running", "Z": "blocked"}
