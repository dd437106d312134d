"""Scale of nodes that go through states (decision 15), by an engine that has phases: rounds and shapes go through its other door."""

import pytest
from tests.run.engines import ANN
from tests.run.yard import SERVER, Yard, phase

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import OnPath
from phaseline.model.blueprint.state_paths import NODE
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.rows import ExecutionRow, NewDeployment, NewExecution
from phaseline.testing.builders import blueprint, group, node, topology

LINE = OnPath((SERVER, "cloudify.nodes.Root", NODE), "Started")
PHASES = ("Buy", "Configure", "Return")


def yard_of(*, grouped: bool = False) -> tuple[Yard, int]:
    """A server with a plain node before it, installed."""
    yard = Yard(phase("Buy", "Allocation"), phase("Configure", "Configuration"), phase("Return", "Deallocation"))
    parts = [node("web", types=(SERVER,), to=["db"]), node("db", create="each_again.create")]
    if grouped:
        parts.append(group("tier", "web"))
    made = altered(blueprint(*parts), version="phaseline_dsl_1_0", on_path={SERVER: LINE})
    new = NewDeployment("lab", made, {}, topology(made), CodeLocation("/nowhere"), ANN, yard.clock.now())
    number, _ = yard.store.create_deployment(new)
    run(yard, number, "install")
    return yard, number


def begin(yard: Yard, deployment: int, workflow: str, **parameters: object) -> ExecutionRow:
    request = Request(workflow, parameters)
    row = yard.store.create_execution(NewExecution(deployment, request, ANN, yard.clock.now()))
    yard.engine.submit(row)
    yard.settle()
    return row


def run(yard: Yard, deployment: int, workflow: str, **parameters: object) -> ExecutionRow:
    row = begin(yard, deployment, workflow, **parameters)
    yard.complete_all()
    return row


def states(yard: Yard, deployment: int) -> list[str]:
    names = yard.store.state_names(deployment)
    return [state_name(int(number), names) for number in yard.store.states(deployment)]


@pytest.mark.parametrize("entity", ["web", "tier"])
def test_d15_the_added_go_along_their_path_and_the_removed_to_its_end(entity: str) -> None:
    yard, deployment = yard_of(grouped=entity == "tier")
    row = begin(yard, deployment, "scale", scalable_entity_name=entity, delta=2)
    assert [(one.phase, one.instance[:3]) for one in yard.called()] == [("Buy", "web")] * 2
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED
    assert states(yard, deployment) == ["started", "Started", "Started", "Started"]
    row = begin(yard, deployment, "scale", scalable_entity_name=entity, delta=-2)
    assert {one.phase for one in yard.called()} == {"Return"}
    assert len(yard.called()) == 2
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED
    made = yard.store.topology(deployment)
    assert made.is_there.tolist() == [True, True, False, False]
    assert states(yard, deployment)[2:] == ["Terminated", "Terminated"]


def test_d15_w42_what_fails_on_its_path_is_driven_to_its_end_and_gone() -> None:
    yard, deployment = yard_of()
    row = begin(yard, deployment, "scale", scalable_entity_name="web", delta=1)
    yard.complete("Buy", yard.called()[0].instance)
    yard.answer(yard.called()[0], OutcomeKind.FAILED)
    assert [one.phase for one in yard.called()] == ["Return"]
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.FAILED
    made = yard.store.topology(deployment)
    assert (made.is_there.tolist(), made.started) == ([True, True, False], None)
    assert states(yard, deployment)[2] == "Terminated"


def test_d15_n8_after_a_crash_the_added_go_on_where_they_were() -> None:
    yard, deployment = yard_of()
    row = begin(yard, deployment, "scale", scalable_entity_name="web", delta=2)
    yard.answer(yard.called()[0])
    yard.crash()
    yard.engine.recover()
    yard.settle()
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED
    assert states(yard, deployment) == ["started", "Started", "Started", "Started"]
    assert yard.store.topology(deployment).started is None
