"""What the words about blueprints become."""

from tests.client.recorder import Recorder

from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions


def test_a_plan_is_asked_for_with_the_values_of_an_install() -> None:
    name, passed = Recorder().blueprints.plan("a.yaml", "shop", inputs={"port": 1}, labels=["a=b"])
    assert name == "blueprints.plan"
    assert passed == {
        "order": DeploymentSpec("a.yaml", "shop", {"port": 1}, (), labels=("a=b",)),
        "open_types": False,
        "manner": ExecutionOptions(),
    }


def test_words_of_the_command_become_arguments_of_the_use_case() -> None:
    assert Recorder().blueprints.upload("a", main="b.yaml", plugins=["p"]) == (
        "blueprints.upload",
        {"path": "a", "id": None, "main_file": "b.yaml", "plugin_folders": ["p"]},
    )
