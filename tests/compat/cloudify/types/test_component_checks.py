"""Components are checked and healed by workflows of their deployments (CO16)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import CHECKED, OUTER, Yard
from tests.compat.cloudify.types.test_component import executions, messages

from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        assert found.client.executions.install(found.app(inner=CHECKED), "app").status == "completed"
        yield found


def test_co16_a_component_is_well_if_the_check_of_its_deployment_passes(yard: Yard) -> None:
    done = yard.client.executions.start("check_status", "app")
    assert done.status == "completed", messages(done)
    assert yard.calls()[2:] == ["check db"]
    assert yard.client.executions.tree(done.id).executions[1].workflow == "check_status"


def test_co16_a_failed_check_of_the_deployment_is_one_of_the_component(yard: Yard) -> None:
    (yard.folder / "fail-check").touch()
    failed = yard.client.executions.start("check_status", "app", task_retries=0)
    assert failed.status == "failed"
    assert "check_status-4 of 'db' failed" in messages(failed)
    assert "the disk of check is full" in messages(failed)


def test_co16_a_deployment_that_is_not_whole_fails_the_check(yard: Yard) -> None:
    inner = CHECKED.replace("capabilities:\n", "  more:\n    type: cloudify.nodes.Root\ncapabilities:\n", 1)
    file = yard.write("app/inner/blueprint.yaml", inner)
    done = yard.client.deployments.update("db", file, parameters={"skip_install": True})
    assert done.status == "completed", messages(done)
    failed = yard.client.executions.start("check_status", "app", task_retries=0)
    assert "the deployment 'db' is not installed as a whole" in messages(failed)


def test_co16_a_deployment_of_which_nothing_is_installed_fails_the_check(yard: Yard) -> None:
    yard.client.executions.uninstall("db", force=True)
    failed = yard.client.executions.start("check_status", "app", task_retries=0)
    assert "PL-P010 the workflow 'check_status' is not available now" in messages(failed)


def test_co21_a_deployment_that_is_gone_fails_the_check_and_a_heal_makes_it_anew(yard: Yard) -> None:
    yard.client.executions.uninstall("db", force=True)
    yard.client.deployments.delete("db", force=True)
    failed = yard.client.executions.start("check_status", "app", task_retries=0)
    assert "the deployment 'db' of 'db_" in messages(failed)
    assert "is gone" in messages(failed)
    healed = yard.client.executions.start("heal", "app", task_retries=0)
    assert healed.status == "completed", messages(healed)
    assert yard.calls()[-2:] == ["create db", "start db"]
    assert yard.client.executions.start("check_status", "app").status == "completed"


def test_co16_heal_goes_down_only_where_the_check_failed_and_reinstalls_nothing(yard: Yard) -> None:
    well = yard.client.executions.start("heal", "app")
    assert well.status == "completed", messages(well)
    assert yard.calls()[2:] == ["check db"]
    (yard.folder / "fail-check").touch()
    done = yard.client.executions.start("heal", "app", task_retries=0)
    assert done.status == "completed", messages(done)
    assert yard.calls()[3:] == ["check db", "check db", "mend db"]
    workflows = sorted(one.workflow for one in executions(yard).values())
    assert workflows == ["check_status", "check_status", "heal", "heal", "heal", "install", "install"]


def drift(yard: Yard) -> object:
    done = yard.client.executions.start("check_drift", "app", task_retries=0)
    assert done.status == "completed", messages(done)
    (instance,) = yard.client.instances.list(deployment="app").items
    shown = yard.client.instances.show(instance.id)
    return shown.system_properties["configuration_drift"]["result"] if shown.drift == "drifted" else shown.drift


def test_co16_drift_names_what_differs_from_the_configuration(yard: Yard) -> None:
    assert drift(yard) == "none"
    yard.client.deployments.update("db", str(yard.folder / "app/inner/blueprint.yaml"), inputs={"size": 7})
    assert drift(yard) == {"capabilities": ["size"], "deployment": ["inputs"], "blueprint": ["id"]}


def test_co16_an_update_touches_no_component_that_stays_as_it_is(yard: Yard) -> None:
    extra = "  extra:\n    type: cloudify.nodes.Root\ncapabilities:\n"
    done = yard.client.deployments.update(
        "app", yard.write("app/blueprint.yaml", OUTER.replace("capabilities:\n", extra, 1))
    )
    assert done.status == "completed", messages(done)
    assert yard.calls() == ["create db", "start db"]


def test_co16_an_update_that_would_change_what_a_component_has_made_is_refused_and_stores_nothing(yard: Yard) -> None:
    file = yard.write("app/blueprint.yaml", OUTER.replace("size: 3", "size: 4"))
    with pytest.raises(ProblemsError) as caught:
        yard.client.deployments.update("app", file)
    (problem,) = caught.value.problems
    assert (problem.code, "another 'resource_config'" in problem.message) == ("PL-C114", True)
    assert set(executions(yard)) == {"install-1", "install-2"}
    done = yard.client.deployments.update("app", file, parameters={"force_reinstall": True})
    assert done.status == "completed", messages(done)
    assert yard.client.deployments.show("db").inputs == {"size": 4}
