"""Blueprints in the manner of public ones are read without a word, and their plans are golden files (B51).

``plan.txt`` is what a user is shown, ``merged.yaml`` all that is planned with: inputs, properties, operations of both ends
with their inputs, workflows, groups, outputs. Each fits the schema for editors, says the same as itself, and is read without its definition files as well.

``PHASELINE_ACCEPT=1`` writes the plans anew; read the difference before it is committed.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.dsl.corpus import BLUEPRINTS, DEFINITIONS
from tests.dsl.grammar.test_json_schema import document, validator
from tests.dsl.merged import merged_text

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.catalog.files.definition_files import read_definitions
from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.documents.diff import compare
from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.reader import read_whole
from phaseline.model.blueprint.blueprint import Blueprint, Operation
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.execution import History, Request, StatePathIndex
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.model.resources.state_graph_names import state_numbers
from phaseline.plan.preview.plan_summary import summarise
from phaseline.plan.preview.plan_text import plan_text
from phaseline.plan.states.state_operations import states_of
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import topology

ODD = {"monitoring_policies": ["PL-B018"]}
"""{blueprint: codes of the warnings that it is right to give}"""
each_blueprint = pytest.mark.parametrize("file", BLUEPRINTS, ids=lambda file: file.parent.name)


def declaration(_operation: Operation) -> Declaration:
    """Plugins that are not there are called one by one."""
    return Declaration(bulk=False, repeatable=True)


def known_paths(blueprint: Blueprint) -> StatePathIndex:
    """The paths that are always there and those of the blueprint, without any phases."""
    registry = PhaseRegistry().of_blueprint(blueprint)
    return StatePathIndex(registry, state_numbers(states_of(blueprint, registry)))


@each_blueprint
def test_a_blueprint_is_read_and_planned_as_expected(
    file: Path, corpus_types: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    whole = read_whole(file.name, BlueprintFiles(file.name, types_folder=corpus_types))
    written = whole[0]
    assert compare(whole, whole).is_same
    assert plan_document(*whole) == plan_document(*whole)
    found, minor = document(file)
    validator(minor)(found.root)
    assert [warning.code for warning in written.warnings] == ODD.get(file.parent.name, [])
    given = Path("inputs.yaml")
    inputs = complete_inputs(written, yaml.safe_load(given.read_text()) if given.exists() else {})
    evaluated = with_inputs(written, inputs)
    built = topology(evaluated)
    states = np.full(len(built), InstanceState.UNINITIALIZED, np.uint8)
    before = History(states, paths=known_paths(evaluated))
    graph = PLANNERS["install"](built, Request("install", {}), before, declaration)
    told = plan_text(summarise(built, graph, slots={"threads": 8, "workers": 4}, written=written))
    for name, text in (("plan.txt", told), ("merged.yaml", merged_text(evaluated, inputs))):
        expected = Path(name)
        if os.environ.get("PHASELINE_ACCEPT"):
            expected.write_text(text, "utf-8")
        assert text == expected.read_text("utf-8")


@each_blueprint
def test_without_its_definitions_it_is_read_with_open_types(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    found = read_whole(file.name, BlueprintFiles(file.name), open_types=True)[0]
    assert all(warning.code in {"PL-B092", "PL-B125", "PL-B018"} for warning in found.warnings), found.warnings


@pytest.mark.parametrize("folder", DEFINITIONS, ids=lambda folder: folder.name)
def test_a_definition_file_says_whose_it_is(folder: Path) -> None:
    assert [each.name for each in read_definitions(folder)] == [f"cloudify-{folder.name}-plugin"]


def test_there_are_at_least_thirty_in_every_version_of_the_language() -> None:
    assert len(BLUEPRINTS) >= 30
    first = {next(line for line in file.read_text().splitlines() if line.startswith("tosca")) for file in BLUEPRINTS}
    versions = [*(f"cloudify_dsl_1_{minor}" for minor in range(6)), "phaseline_dsl_1_0"]
    assert sorted(first) == [f"tosca_definitions_version: {version}" for version in versions]
