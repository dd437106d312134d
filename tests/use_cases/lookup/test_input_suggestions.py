"""B14: inputs and parameters that name something of the store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN

import phaseline
from phaseline import ProblemsError

ASKING = """tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
inputs:
  which: {{type: {0}, constraints: [{1}]}}
"""
MORE = """
capabilities: {zone: {value: north}, zip: {value: '123'}}
labels: {team: {values: [web]}}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One store for all: nothing that is asked for changes it but deployments without meaning."""
    folder = tmp_path_factory.mktemp("known") / "shop"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "made.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT + MORE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        with phaseline.open(f"sqlite:///{folder}/store.db") as opened:
            opened.deployments.create(str(folder / "blueprint.yaml"), "shop", inputs={"word": "hi"})
            opened.filters.create("web", ["team=[web,api]", "installation_status=inactive", "id starts-with sh"])
            opened.filters.create("db", ["team=db"])
            yield opened


def is_taken(shop: Any, folder: Path, kind: str, constraints: str, value: str) -> bool:
    file = folder / "asking.yaml"
    file.write_text(ASKING.format(kind, constraints))
    name = f"d{len(list(shop.deployments.list().items))}"
    try:
        shop.deployments.create(str(file), name, inputs={"which": value})
    except ProblemsError as error:
        assert [problem.code for problem in error.problems] == ["PL-B088"]  # noqa: PT017 - nothing else may be wrong
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "constraints", "good", "bad"),
    [
        ("deployment_id", "", ["shop"], ["nothing"]),
        ("deployment_id", "{labels: [{team: web}]}", ["shop"], []),
        ("deployment_id", "{labels: [{team: db}]}", [], ["shop"]),
        ("deployment_id", "{name_pattern: {starts_with: sh}}", ["shop"], []),
        ("deployment_id", "{name_pattern: {not_contains: [h]}}", [], ["shop"]),
        ("deployment_id", "{tenants: [default_tenant]}", ["shop"], []),
        ("deployment_id", "{tenants: [other]}", [], ["shop"]),
        ("deployment_id", "{filter_id: web}", ["shop"], ["nothing"]),
        ("deployment_id", "{filter_id: web}, {labels: [{team: db}]}", [], ["shop"]),
        ("deployment_id", "{filter_id: db}", [], ["shop"]),
        ("deployment_id", "{labels: [{Team: web}]}, {name_pattern: {equals_to: [x, shop]}}", ["shop"], []),
        ("blueprint_id", "", [], ["shop"]),
        ("secret_key", "", [], ["password"]),
        ("node_id", "{deployment_id: shop}", ["base", "top"], ["two", "shop"]),
        ("node_id", "{deployment_id: nothing}", [], ["base"]),
        ("node_id", "{deployment_id: shop}, {valid_values: [two]}", [], ["base"]),
        ("node_type", "{deployment_id: shop}", ["Thing"], ["cloudify.nodes.Compute"]),
        ("operation_name", "{deployment_id: shop}", ["cloudify.interfaces.lifecycle.create"], ["create", "x.y"]),
        ("scaling_group", "{deployment_id: shop}", [], ["base"]),
        ("node_instance", "{deployment_id: shop}", [], ["base"]),
        ("capability_value", "{deployment_id: shop}", ["north", "123"], ["south"]),
        ("capability_value", "{deployment_id: shop}, {name_pattern: {equals_to: zone}}", ["north"], ["123"]),
        ("node_id", "", [], ["base"]),
    ],
)
def test_b14_what_is_named_must_be_there_and_fit(
    shop: Any, tmp_path: Path, kind: str, constraints: str, good: list[str], bad: list[str]
) -> None:
    for value in good:
        assert is_taken(shop, tmp_path, kind, constraints, value), value
    for value in bad:
        assert not is_taken(shop, tmp_path, kind, constraints, value), value


def test_b14_an_id_of_an_instance_is_one(shop: Any, tmp_path: Path) -> None:
    instance = shop.instances.list().items[0].id
    assert is_taken(shop, tmp_path, "node_instance", "{deployment_id: shop}", instance)


def test_lb6_a_filter_that_is_not_there_is_told(shop: Any, tmp_path: Path) -> None:
    file = tmp_path / "asking.yaml"
    file.write_text(ASKING.format("deployment_id", "{filter_id: wbe}"))
    with pytest.raises(ProblemsError) as caught:
        shop.deployments.create(str(file), "asking", inputs={"which": "shop"})
    (problem,) = caught.value.problems
    assert (problem.code, "did you mean 'web'?" in problem.mend) == ("PL-C152", True)
