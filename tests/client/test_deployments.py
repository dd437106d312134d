"""What the words about deployments become."""

from tests.client.recorder import Recorder

from phaseline.use_cases.commands.adopt import AdoptOrder
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.update_preparation import UpdateOrder


def test_switches_of_an_update_become_parameters_of_its_workflow_over_those_that_are_given() -> None:
    name, passed = Recorder().deployments.update(
        "shop",
        "b.yaml",
        inputs={"port": 2},
        parameters={"skip_heal": False, "mine": 1},
        skip_heal=True,
        reinstall=["db_1"],
        workflow_id="patch",
        task_retries=2,
        detach=True,
    )
    said = {"skip_heal": True, "mine": 1, "workflow_id": "patch", "reinstall_list": ["db_1"]}
    assert name == "deployments.update"
    assert passed == {
        "order": UpdateOrder("shop", "b.yaml", {"port": 2}, None, said),
        "manner": ExecutionOptions(task_retries=2),
        "watcher": None,
        "detach": True,
    }


def test_a_document_is_adopted_as_it_says_unless_the_caller_says_more() -> None:
    _, passed = Recorder().deployments.adopt("a.json")
    assert passed["order"] == AdoptOrder("a.json", None, None, {}, None, False, True)
