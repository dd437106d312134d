"""B26: the schedules of a deployment are kept with it, in the zone that they name."""

import json
from pathlib import Path

import phaseline
from phaseline.app.app_context import SystemClock
from phaseline.store import open_store

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {node: {default: net}}
node_templates: {net: {type: cloudify.nodes.Root}}
deployment_settings:
  default_schedules:
    nightly: {workflow: pull, since: '2026-01-01 02:00', timezone: Asia/Tokyo, recurrence: 1d, workflow_parameters: {node_ids: [{get_input: node}]}}
    later: {workflow: pull, since: '+1 day', slip: 5}
"""


def test_b26_a_deployment_keeps_its_schedules_as_they_begin(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    url = f"sqlite:///{tmp_path}/store.db"
    with phaseline.open(url) as ctx:
        ctx.deployments.create(str(tmp_path / "blueprint.yaml"), "shop")
    store = open_store(url, SystemClock())
    kept = store.blueprint(1).deployment_settings["default_schedules"]
    store.close()
    assert isinstance(kept, dict)
    nightly, later = kept["nightly"], kept["later"]
    assert isinstance(nightly, dict)
    assert isinstance(later, dict)
    assert (nightly["since"], nightly["recurrence"], nightly["default_enabled"]) == ("2026-01-01 02:00:00", "1d", True)
    assert nightly["workflow_parameters"] == {"node_ids": ["net"]}
    assert nightly["timezone"] == "Asia/Tokyo"
    assert str(later["since"]).endswith(":00")
    assert (later["slip"], later["stop_after_fail"]) == (5, False)


def test_a_topology_that_is_stored_with_its_blueprint_is_not_read_again(tmp_path: Path) -> None:
    """Whether there are schedules or not: a second topology would cost a large deployment seconds and much memory."""
    from phaseline.app.settings import Settings
    from phaseline.embedded.open_app import open_context
    from phaseline.use_cases.loading.deployment_rows import new_deployment
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec, load_order

    plain = "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\n"
    timed = "deployment_settings: {default_schedules: {daily: {workflow: install, since: '+1 d'}}}\n"
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as ctx:
        for number, text in enumerate((plain, plain + timed)):
            file = tmp_path / f"blueprint{number}.yaml"
            file.write_text(text)
            new = new_deployment(ctx, "shop", load_order(ctx, DeploymentSpec(str(file))), ctx.clock.now())
            assert new.topology.blueprint is new.blueprint


def test_sc10_an_adopted_deployment_has_its_schedules_disabled_with_times_counted_from_now(tmp_path: Path) -> None:
    blueprint, document = tmp_path / "blueprint.yaml", tmp_path / "shop.json"
    blueprint.write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as ctx:
        assert ctx.executions.install(str(blueprint), "shop").is_good
        assert [view.is_enabled for view in ctx.schedules.list("shop")] == [True, True]
        document.write_text(json.dumps(ctx.deployments.export("shop")))
        assert ctx.deployments.abandon("shop").is_good
        assert ctx.schedules.list() == []
        assert ctx.deployments.adopt(str(document), "shop", blueprint=str(blueprint)).is_good
        later, nightly = ctx.schedules.list("shop")
    assert (later.is_enabled, nightly.is_enabled) == (False, False)
    assert (nightly.since, nightly.zone) == ("2026-01-01 02:00:00", "Asia/Tokyo")
    assert later.since.endswith(":00"), "'+1 day' has become a time"


def test_sc10_an_uninstall_leaves_schedules(tmp_path: Path) -> None:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as ctx:
        assert ctx.executions.install(str(tmp_path / "blueprint.yaml"), "shop").is_good
        assert ctx.executions.uninstall("shop").is_good
        assert [view.name for view in ctx.schedules.list("shop")] == ["later", "nightly"]
