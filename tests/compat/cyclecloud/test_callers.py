"""Phases outside of a bulk run: one resource at a time, in a process of its own, made up for a test of a plugin."""

import json
from dataclasses import replace

import pytest
from tests.compat.cyclecloud.runs import CREATE, LaneSpec, Make, Policy, messages, runs, words

from phaseline import phase
from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.batches.trial_call import Subject, Trial, TrialMember
from phaseline.calls.protocol.call import PluginCall
from phaseline.calls.protocol.call_codec import read_call, read_site, write_call, write_site
from phaseline.calls.protocol.phase_view import PhaseContext
from phaseline.compat.cyclecloud.callers import PhaseCaller
from phaseline.model.blueprint.operation_declaration import Declaration, as_phase, declaration_of, operation
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.phases.definitions import Attributes, PhaseDefinition, PhasePolicy
from phaseline.testing import call, fake_batch, fake_item

__all__ = ["runs"]

VIEW = PhaseContext("Acme.Create", "Allocation", 2_000, {"Color": "blue", "Limit": {"$expr": "2 + 1"}})


def handle(handler):
    assert handler.getPhaseName() == "Acme.Create"
    assert handler.getState() == handler.resources[0]["State"] == "Allocation"
    phase = handler.getPhase()
    assert (phase["Color"], phase["Limit"], phase["Description"]) == ("blue", 3, "Acme.Create")
    handler.getResourcePhaseData(handler.resources[0])["Seen"] = True


def made_up() -> tuple[PluginCall, Trial]:
    """A call of a phase of a state."""
    trial = Trial([TrialMember(Subject("vm"))])
    trial.function = as_phase(handle)
    made = trial.call_at(0)
    made.site = replace(made.site, phase=VIEW)
    return made, trial


def test_p22_what_is_pending_sleeps_for_the_delay_of_the_phase_of_a_state() -> None:
    made, _ = made_up()
    outcome = PhaseCaller().call(made)
    assert (outcome.kind, outcome.delay_ms) == (OutcomeKind.AGAIN, 2_000), outcome.message
    assert made.owner.changes == ({("\0phases", "Acme.Create", "Seen"): True}, ())


def test_resources_of_several_states_come_in_one_run_and_each_knows_its_own() -> None:
    trial = Trial([TrialMember(Subject("vm")), TrialMember(Subject("vm"))])
    for place, state in enumerate(("Allocation", "Configuration")):
        made = trial.call_at(place)
        made.site = replace(made.site, phase=replace(VIEW, state=state))

    def look(handler) -> None:
        assert [node["State"] for node in handler.resources] == ["Allocation", "Configuration"]
        assert handler.getResourcePhaseData(handler.resources[1])["State"] == "Configuration"
        assert handler.getState() == "Allocation"

    run = PhaseCaller().gather(BulkCall(2, trial.call_at, trial.say))
    run.code(as_phase(look))()


def test_the_phase_travels_with_the_call_to_a_worker() -> None:
    made, trial = made_up()
    assert read_site(json.loads(json.dumps(write_site(made.site)))).phase == VIEW
    made.site = replace(made.site, phase=None)
    site = read_site(write_site(made.site))
    assert read_call(write_call(made, inputs={}, mark="m"), site, trial, trial.deployment).site.phase is None


def test_a_phase_may_run_in_a_process_of_its_own(runs: Make) -> None:
    policy = Policy(LaneSpec(CREATE, "each", pool="workers"))
    world = runs(
        "from phaseline.model.blueprint.operation_declaration import as_phase\n"
        "def handle(handler):\n"
        "    node, = handler.getResources()\n"
        "    data = handler.getResourcePhaseData(node)\n"
        "    if not data.isDefined('OperationId'):\n"
        "        handler.setMessage(node, 'starting')\n"
        "        data['OperationId'] = handler.operationToken(node)\n"
        "        handler.save(node)\n"
        "        node['Size'] = 1\n"
        "    else:\n"
        "        assert data['Message'] == 'starting' and node['Size'] == 1\n"
        "        handler.setCompleted(node)\n"
        "as_phase(handle)\n",
        policy=policy,
    )
    first = world.run(0)
    assert (words(first), messages(first)) == (["again"], {0: "starting"})
    second = world.run(0)
    assert (words(second), messages(second)) == (["completed"], {0: ""})
    assert world.document(0)["Size"] == 1


def test_an_author_may_try_a_phase_with_made_up_resources() -> None:
    def grow(handler) -> None:
        for node in handler.getResources():
            node["Size"] = node.getAsInteger("Size") + 1
            handler.log("info", "grown", node)
        handler.setMessage(handler.resources[0], "growing")
        handler.setCompleted(handler.resources[1])

    found = call(as_phase(grow), fake_batch([fake_item(runtime_properties={"Size": size}) for size in (1, 2)]))
    assert [one.outcome for one in found] == ["again", "completed"]
    assert [one.runtime_properties for one in found] == [{"Size": 2}, {"Size": 3}]
    assert found[0].lines == (("info", "grown"),)

    def handle_one(resource, data) -> bool:
        data["Name"] = resource["Name"]
        return True

    (one,) = call(as_phase(handle_one), fake_item())
    assert (one.outcome, one.lines[0][0]) == ("completed", "warning")


@pytest.mark.parametrize(
    ("function", "is_bulk"),
    [
        (lambda handler: None, True),
        (lambda resource, data: None, False),
    ],
)
def test_the_number_of_arguments_tells_what_a_phase_is_called_with(function, is_bulk: bool) -> None:
    assert declaration_of(as_phase(function)) == Declaration("phase", bulk=is_bulk, repeatable=True)


def test_the_form_of_a_definition_decides_before_the_number_of_arguments() -> None:
    def create(resource, data=None) -> None: ...

    assert not declaration_of(as_phase(create, "handle_one")).bulk


def test_p22_the_view_of_a_definition_has_its_delay_and_its_attributes() -> None:
    definition = PhaseDefinition(
        "Acme.Create",
        "acme.create",
        ("Allocation",),
        ("Cloud.Node",),
        policy=PhasePolicy(sleep_delay_s=2),
        attributes=Attributes({"Color": "blue"}),
    )
    view = PhaseContext.of(definition, "Allocation")
    assert (view.name, view.state, view.sleep_delay_ms) == ("Acme.Create", "Allocation", 2_000)
    assert view.attributes == {
        "Color": "blue",
        "Description": "Acme.Create",
        "HandlesStates": ["Allocation"],
        "ResourceType": ["Cloud.Node"],
        "Plugin": "acme.create",
    }


def test_a_function_that_says_what_it_is_stays_that() -> None:
    @operation(bulk=True)
    def create(batch) -> None: ...

    assert declaration_of(as_phase(create)).flavour == "native"


def test_a_decorated_phase_may_be_an_operation_of_a_node_and_is_tried_as_it_is() -> None:
    @phase(name="Acme.Create", states="Allocation", resource_type="Cloud.Node")
    def create(handler) -> None:
        handler.setCompleted(handler.resources)

    assert declaration_of(create) == Declaration("phase", bulk=True, repeatable=True)
    assert [one.outcome for one in call(create, fake_batch(2))] == ["completed", "completed"]
