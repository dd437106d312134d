"""What has started executions and made deployments is seen: trees, causes, outer deployments (BB2, CO20)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, Yard

from phaseline.cli.render.executions import execution_tree
from phaseline.cli.render.listings import deployment_list
from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        found.client.executions.install(found.three_levels(INNER), "app")
        yield found


def test_bb2_a_tree_has_all_that_an_execution_has_started(yard: Yard) -> None:
    found = yard.client.executions.tree("install-1")
    assert [(one.level, one.id, one.deployment) for one in found.executions] == [
        (0, "install-1", "app"),
        (1, "install-2", "db"),
        (2, "install-3", "low"),
    ]
    (instance,) = yard.client.instances.list(deployment="app").items
    assert found.executions[1].caused_by == f"component {instance.id} of install-1 of app"
    assert execution_tree(found).splitlines()[1].startswith("  install-2 of 'db': ")
    inner = yard.client.executions.tree("install-2")
    assert [one.id for one in inner.executions] == ["install-2", "install-3"]


def test_co20_inner_deployments_name_their_outer_one_and_may_be_hidden(yard: Yard) -> None:
    page = yard.client.deployments.list()
    assert {one.name: one.outer for one in page.items} == {"app": "", "db": "app", "low": "db"}
    assert "db of app" in deployment_list(page)
    assert [one.name for one in yard.client.deployments.list(top=True).items] == ["app"]


def test_co20_an_inner_deployment_is_not_deleted_without_force(yard: Yard) -> None:
    yard.client.executions.uninstall("low", force=True)
    for act in (yard.client.deployments.delete, yard.client.deployments.abandon):
        with pytest.raises(ProblemsError) as caught:
            act("low")
        assert caught.value.problems[0].code == "PL-C115"
        assert "a component of 'db'" in caught.value.problems[0].message
    yard.client.deployments.delete("low", force=True)
    assert [one.name for one in yard.client.deployments.list().items] == ["app", "db"]
