"""Two tenants in one process: each uses the same names, the engine runs both, and neither sees the other (RF4, TN1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Actor
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.commands.secrets import create_secret, list_secrets, rotate, show_secret
from phaseline.use_cases.commands.upload_blueprint import delete_blueprint, upload
from phaseline.use_cases.loading.stored_blueprint_files import find_stored, materialized
from phaseline.use_cases.loading.type_catalog import install_definitions, list_definitions, types_folder
from phaseline.use_cases.lookup.find import find_deployment, find_execution
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.deployments import list_deployments
from phaseline.use_cases.queries.executions import list_executions
from phaseline.use_cases.queries.instances import list_instances, show_instance
from phaseline.use_cases.queries.status import status

PLUGIN = """
from cloudify import ctx
from cloudify.decorators import operation


@operation
def note(said, **_):
    ctx.instance.runtime_properties["said"] = said
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {noting: {executor: central_deployment_agent, install: false}}
node_templates:
  web:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: noting.noting.note
          inputs: {said: {concat: [{get_sys: [tenant, name]}, '/', {get_secret: secret-of-it}]}}
"""

Tenants = tuple[RequestContext, RequestContext]


@pytest.fixture
def file(tmp_path: Path) -> str:
    folder = tmp_path / "shop"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "noting.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    return str(folder / "blueprint.yaml")


@pytest.fixture
def tenants(tmp_path: Path) -> Iterator[Tenants]:
    """Requests of users of two tenants in one process."""
    settings = Settings(f"sqlite:///{tmp_path}/store.db", secrets_key_file=str(tmp_path / "secrets.key"))
    with open_context(settings, "a test") as ctx:
        yield altered(ctx, actor=Actor("ann", "acme")), altered(ctx, actor=Actor("bob", "other"))


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(ProblemsError) as caught:
        call()
    (problem,) = caught.value.problems
    return f"{problem.code} {problem.message} {problem.mend}"


def installed(ctx: RequestContext, file: str, secret: str) -> None:
    create_secret(ctx, "secret-of-it", secret)
    view = follow(ctx, install(ctx, DeploymentSpec(file, "shop")))
    assert view.status is ExecutionStatus.COMPLETED


def test_tn1_tenants_use_the_same_names_and_the_engine_serves_both(tenants: Tenants, file: str) -> None:
    acme, other = tenants
    installed(acme, file, "only-acmes")
    installed(other, file, "only-others")
    for ctx, words in ((acme, "acme/only-acmes"), (other, "other/only-others")):
        (one,) = list_deployments(ctx).items
        (instance,) = list_instances(ctx).items
        assert (one.name, one.created_by) == ("shop", ctx.actor.name)
        assert [row.deployment for row in list_executions(ctx).items] == ["shop"]
        said = ctx.vault.unsealed(ctx.store.documents(find_deployment(ctx.store, "shop").number)[0])
        assert said["said"] == words
        assert show_instance(ctx, instance.id).deployment == "shop"
    assert [row.tenant for row in acme.app.store.executions()] == ["acme", "other"]


def test_sv10_what_another_tenant_has_is_as_if_it_did_not_exist(tenants: Tenants, file: str) -> None:
    acme, other = tenants
    installed(acme, file, "only-acmes")
    (run,) = list_executions(acme).items
    (instance,) = list_instances(acme).items
    assert refused(lambda: find_execution(other.store, run.id, None)) == refused(
        lambda: find_execution(other.store, run.id.replace("1", "7"), None)
    ).replace("7", "1")
    assert "the store has no deployments" in refused(lambda: find_deployment(other.store, "shopp"))
    assert refused(lambda: show_instance(other, instance.id)).replace(instance.id, "it") == refused(
        lambda: show_instance(other, "web_000000")
    ).replace("web_000000", "it")
    assert "secret-of-it" not in refused(lambda: show_secret(other, "secret-of-if"))
    now = status(other)
    assert (list_deployments(other).items, list_executions(other).items, list_secrets(other)) == ([], [], [])
    assert (now.open_count, now.executions, now.request_count) == (0, [], 0)


def test_rf4_a_tenant_deletes_its_own_copies_of_files_that_another_has_too(tenants: Tenants, file: str) -> None:
    acme, other = tenants
    folders = []
    for ctx in tenants:
        upload(ctx, file, "stored")
        folders.append(materialized(ctx, find_stored(ctx, "stored")))
        assert (folders[-1] / "blueprint.yaml").is_file()
    assert folders[0].name == folders[1].name, "they are equal"
    delete_blueprint(acme, "stored")
    assert [folder.is_dir() for folder in folders] == [False, True]
    assert find_stored(other, "stored").version == 1


def test_rf4_definitions_of_plugins_are_each_tenants_own(tenants: Tenants, tmp_path: Path) -> None:
    acme, other = tenants
    default = altered(acme, actor=Actor("eve"))
    (tmp_path / "plugin.yaml").write_text(
        "plugins: {acme: {executor: host_agent, package_name: acme, package_version: '1.0'}}"
    )
    install_definitions(acme, str(tmp_path / "plugin.yaml"), tell=lambda _: None)
    found = [[(one.name, one.version) for one in list_definitions(ctx)] for ctx in (acme, other, default)]
    assert found == [[("acme", "1.0")], [], []]
    folders = [Path(types_folder(ctx)) for ctx in (acme, other, default)]
    assert [one for one in folders for another in folders if another in one.parents] == []


def test_rf4_a_new_master_key_is_for_the_secrets_of_all(tenants: Tenants) -> None:
    acme, other = tenants
    create_secret(acme, "one", "the-secret-of-acme")
    create_secret(other, "one", "the-secret-of-other")
    assert rotate(acme).keys == 2
    assert [show_secret(ctx, "one", reveal=True).value for ctx in tenants] == [
        "the-secret-of-acme",
        "the-secret-of-other",
    ]


def test_rf4_a_secrets_row_of_another_tenant_cannot_be_opened(tenants: Tenants) -> None:
    acme, other = tenants
    create_secret(acme, "one", "the-secret-of-acme")
    row = acme.store.secrets.find("one")
    assert row is not None
    other.store.secrets.put(row)
    assert refused(lambda: show_secret(other, "one", reveal=True)).startswith("PL-S023")
