"""Blueprints as JSON: what was written comes back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.dsl.functions.test_function_rules import DEPLOYED
from tests.dsl.readers import read

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.blueprint import Blueprint

EXAMPLES = sorted(Path(__file__).parents[3].glob("examples/*/blueprint.yaml"))


def brought_back(blueprint: Blueprint) -> Blueprint:
    return blueprint_from_json(json.loads(json.dumps(blueprint_to_json(blueprint))))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_an_example_comes_back_from_json(file: Path) -> None:
    blueprint = read_blueprint(str(file), BlueprintFiles(str(file)))
    assert brought_back(blueprint) == replace(blueprint, warnings=())


def test_functions_relationships_and_counts_come_back() -> None:
    blueprint = read(DEPLOYED)
    assert brought_back(blueprint) == blueprint


def test_what_nodes_share_is_written_once() -> None:
    nodes = "\n".join(f"  n{number}: {{type: cloudify.nodes.Compute}}" for number in range(50))
    written = blueprint_to_json(read(f"node_templates:\n{nodes}\n"))
    assert len(written["operation_tables"]) == 1
    back = blueprint_from_json(written)
    assert back.nodes["n0"].operations is back.nodes["n49"].operations


def test_an_empty_blueprint_comes_back() -> None:
    blueprint = read("", types=False)
    assert brought_back(blueprint) == blueprint
