"""B24-B27, B41, B42 and N1 together: what functions, labels, tags and scaling groups are while something runs."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import phaseline
from phaseline.cli.command_tree import root

PLUGIN = """
from cloudify import ctx

def note(said=None, **_):
    ctx.instance.runtime_properties["said"] = said
    ctx.instance.runtime_properties["tags"] = ctx.deployment.resource_tags
    ctx.instance.runtime_properties["shown"] = ctx.deployment.display_name
    ctx.instance.runtime_properties["own"] = ctx.instance.id
    ctx.instance.runtime_properties["ends"] = [one.properties["ends"] for one in ctx.instance.relationships]
    ctx.instance.runtime_properties["late"] = ctx.deployment.runtime_only_evaluation
"""

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {team: {default: ops}}
plugins: {noting: {executor: central_deployment_agent, install: false}}
relationships:
  near: {derived_from: cloudify.relationships.connected_to, properties: {ends: {}}}
node_templates:
  db: {type: cloudify.nodes.Root, interfaces: &noted {cloudify.interfaces.lifecycle: {create: {implementation: noting.noting.note}}}}
  web:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: noting.noting.note
          inputs:
            said:
              near: {get_attribute: [db, own]}
              all: {get_attributes_list: [db, own]}
              label: {get_label: [team, 0]}
              sys: {concat: [{get_sys: [deployment, id]}, '/', {get_sys: [deployment, name]}, '/', {get_sys: [tenant, name]}]}
              text: {string_upper: {get_input: team}}
    relationships:
      - type: near
        target: db
        properties: {ends: {concat: [{get_attribute: [SOURCE, node_instance_id]}, '>', {get_attribute: [TARGET, own]}]}}
groups: {shop: {members: [db, web]}}
policies: {more: {type: cloudify.policies.scaling, targets: [shop], properties: {default_instances: 2}}}
labels: {team: {values: [{get_input: team}]}}
resource_tags: {owner: {get_input: team}, unit: {get_label: [team, 0]}}
deployment_settings: {display_name: {concat: [the shop of, ' ', {get_input: team}]}}
outputs:
  unit: {value: {get_label: team}}
  far: {value: {get_capability: [other, address]}}
  many: {value: {get_attributes_list: [web, node_instance_index]}}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "noting.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    return str(folder / "blueprint.yaml")


def test_b41_runtime_only_evaluation_keeps_functions_for_the_call(file: str, tmp_path: Path) -> None:
    store = ["--store", f"sqlite:///{tmp_path}/store.db"]
    words = ["install", file, "-d", "late", "-i", "team=dev", "--runtime-only-evaluation", "--allow-missing-providers"]
    assert CliRunner().invoke(root, [*store, *words]).exit_code == 0
    with phaseline.open(store[1]) as place:
        assert place.deployments.outputs("late")["unit"] == ["dev"]
        (web, *_) = place.instances.list(node="web").items
        found = place.instances.show(web.id).runtime_properties
        assert (found["said"]["text"], found["late"]) == ("DEV", True)


def test_b41_b42_n1_functions_see_groups_labels_and_facts_of_the_deployment(file: str, tmp_path: Path) -> None:
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as place:
        assert place.executions.install(file, inputs={"team": "dev"}, allow_missing_providers=True).is_good
        webs = [place.instances.show(one.id).runtime_properties for one in place.instances.list(node="web").items]
        names = sorted(one.id for one in place.instances.list(node="db").items)
        assert sorted(web["said"]["near"] for web in webs) == names
        for web in webs:
            assert web["ends"] == [f"{web['own']}>{web['said']['near']}"]
            assert sorted(web["said"].pop("all")) == names
            assert web["said"].pop("near") in names
            assert web["said"] == {"label": "dev", "sys": "shop/the shop of dev/default_tenant", "text": "DEV"}
            assert (web["tags"], web["shown"]) == ({"owner": "dev", "unit": "dev"}, "the shop of dev")
        groups = [place.instances.show(one.id).scaling_groups for one in place.instances.list().items]
        assert {name for ((name, _),) in groups} == {"shop"}
        assert len({id for ((_, id),) in groups}) == 2
        outputs = dict(place.deployments.outputs("shop"))
        assert outputs.pop("far") == "<ERROR: there is no deployment 'other'>"
        assert outputs == {"unit": ["dev"], "many": [1, 2]}
