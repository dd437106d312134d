"""Workflows rehearsed with made-up plugins go the way of real ones."""

from pathlib import Path

import pytest

from phaseline import ProblemsError
from phaseline.testing import completes, fails, rehearse, retries, sleeps
from phaseline.testing.builders import blueprint, node, relationship

PAIR = blueprint(
    node("db", create="cloud.make", start="cloud.start"), node("web", create="cloud.make", instances=2, to=["db"])
)


def test_calls_come_in_the_order_of_dependencies() -> None:
    assert rehearse(PAIR).order == ["create db_1", "start db_1", "create web_1", "create web_2"]


def test_bulk_functions_get_what_is_ready_in_one_call() -> None:
    assert rehearse(PAIR, bulk=True).order == ["create db_1", "start db_1", "create web_1 web_2"]


def test_all_instances_are_started_in_the_end() -> None:
    done = rehearse(PAIR)
    assert done.status == "completed"
    assert set(done.states.values()) == {"started"}


def test_a_failure_stops_what_depends_on_it() -> None:
    done = rehearse(PAIR, outcomes={"db.start": fails("no disk")})
    assert done.status == "failed"
    assert done.order == ["create db_1", "start db_1"]
    assert done.states == {"db_1": "starting", "web_1": "uninitialized", "web_2": "uninitialized"}


def test_the_closest_name_in_the_table_is_taken() -> None:
    table = {"create": sleeps(1), "web.create": sleeps(2), "web_2.create": completes()}
    done = rehearse(PAIR, outcomes=table)
    told = {(called.operation, called.instances[0], called.outcomes[0]) for called in done.calls}
    assert ("create", "db_1", "again") in told
    assert ("create", "web_1", "again") in told
    assert ("create", "web_2", "completed") in told
    assert done.took_s == 3.0


def test_a_retry_waits_for_the_interval_and_ends_when_no_retries_remain() -> None:
    done = rehearse(PAIR, outcomes={"db.create": [retries()] * 9}, task_retries=2, retry_interval_s=10)
    assert done.status == "failed"
    assert [called.at_s for called in done.calls] == [0.0, 10.0, 20.0]


def test_a_slow_call_takes_its_time_on_the_virtual_clock() -> None:
    done = rehearse(PAIR, outcomes={"db.create": completes(takes_s=3600)})
    assert done.took_s == 3600.0


def test_runtime_properties_are_kept() -> None:
    done = rehearse(PAIR, outcomes={"db.create": completes(runtime_properties={"ip": "10.0.0.1"})})
    assert done.runtime_properties == {"db_1": {"ip": "10.0.0.1"}}


def test_uninstall_begins_with_everything_installed_and_goes_backwards() -> None:
    app = blueprint(node("db", delete="cloud.drop"), node("web", delete="cloud.drop", to=["db"]))
    done = rehearse(app, "uninstall")
    assert done.order == ["delete web_1", "delete db_1"]
    assert set(done.states.values()) == {"deleted"}
    assert done.calls[0].at_s == 0.0


def test_an_operation_of_a_relationship_names_both_ends() -> None:
    app = blueprint(node("db"), node("web", relationship("db", source={"establish": "net.join"})))
    assert rehearse(app, outcomes={"web.establish": completes()}).order == ["establish web_1->db_1"]


def test_a_repeatable_call_is_made_again_after_a_crash_and_a_completed_one_is_not() -> None:
    done = rehearse(PAIR, bulk=True, crash_in=[3])
    assert done.status == "completed"
    assert done.crashes == 1
    assert done.order == ["create db_1", "start db_1", "create web_1 web_2", "create web_1 web_2"]
    assert done.calls[2].outcomes == ("died", "died")


def test_a_call_that_may_not_be_repeated_waits_for_a_person_after_a_crash() -> None:
    done = rehearse(PAIR, repeatable=False, crash_in=[1])
    assert done.status == "attention"
    assert done.order == ["create db_1"]


def test_the_same_rehearsal_has_the_same_text() -> None:
    assert rehearse(PAIR, crash_in=[2]).text == rehearse(PAIR, crash_in=[2]).text


def test_a_blueprint_file_is_rehearsed_as_its_functions_declare(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "cloud.py").write_text(
        "from phaseline import operation\n\n\n@operation(bulk=True)\ndef make(batch):\n    raise SystemExit\n"
    )
    (tmp_path / "blueprint.yaml").write_text(
        """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {count: {default: 1}}
plugins: {cloud: {executor: central_deployment_agent, install: false}}
node_templates:
  vm:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: {get_input: count}}}}
    interfaces: {cloudify.interfaces.lifecycle: {create: cloud.cloud.make}}
"""
    )
    done = rehearse(str(tmp_path / "blueprint.yaml"), inputs={"count": 2})
    assert done.order == ["create vm_1 vm_2"]
    with pytest.raises(ProblemsError):
        rehearse(str(tmp_path / "blueprint.yaml"), inputs={"number": 2})


def test_decision15_who_goes_through_states_is_in_the_last_of_its_path_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "make.sh").write_text("#!/bin/sh\n")
    (tmp_path / "blueprint.yaml").write_text(
        """\
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_types: {Machine: {derived_from: cloudify.nodes.Root, resource_type: Cloud.Node, target_state: Started}}
node_templates:
  network: {type: cloudify.nodes.Network, interfaces: {cloudify.interfaces.lifecycle: {create: make.sh}}}
  vm:
    type: Machine
    interfaces: {cloudify.interfaces.lifecycle: {create: make.sh, configure: make.sh, delete: make.sh}}
    relationships: [{type: cloudify.relationships.connected_to, target: network}]
"""
    )
    done = rehearse(str(tmp_path / "blueprint.yaml"))
    assert done.order == ["create network_1", "create vm_1", "configure vm_1"]
    assert done.states == {"network_1": "started", "vm_1": "Started"}
    gone = rehearse(str(tmp_path / "blueprint.yaml"), "uninstall")
    assert gone.order == ["delete vm_1"]
    assert gone.states == {"network_1": "deleted", "vm_1": "Terminated"}
