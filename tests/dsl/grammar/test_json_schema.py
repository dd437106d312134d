"""The JSON Schema takes what the reader takes and refuses what it refuses, as far as forms go."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.dsl.grammar.json_schema import json_schema
from phaseline.dsl.grammar.shape_check import ShapeCheck
from phaseline.dsl.grammar.tables import BLUEPRINT, Each, Leaf, Shape, Table, TableRows
from phaseline.dsl.imports.importer import minor_version
from phaseline.dsl.text.document import Document, read_document
from phaseline.dsl.text.dsl_versions import LATEST, PHASELINE
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = [*range(LATEST + 1), PHASELINE]
SOUND = sorted([*ROOT.glob("examples/*/blueprint.yaml"), *ROOT.glob("tests/cases/plans/*/blueprint.yaml")])
BROKEN = [
    "unknown_keys",
    "required_keys_missing",
    "wrong_forms",
    "version_too_low",
    "several_at_once",
    "version_unknown",
]


@cache
def validator(minor: int) -> Callable[[object], object]:
    """The schema of a version, compiled."""
    return fastjsonschema.compile(json_schema(minor))  # type: ignore[no-any-return]  # the library is not typed


def is_taken(value: object, minor: int) -> bool:
    """Whether the schema takes a value."""
    try:
        validator(minor)(value)
    except fastjsonschema.JsonSchemaValueException:
        return False
    return True


def document(file: Path) -> tuple[Document, int]:
    """A blueprint's document and version; a version that is none counts as the newest."""
    report = ProblemReport()
    found = read_document(str(file), file.read_text("utf-8"), report)
    assert found is not None
    minor = minor_version(found, report)
    return found, LATEST if minor is None else minor


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.parent.name)
def test_sound_blueprints_fit(file: Path) -> None:
    found, minor = document(file)
    validator(minor)(found.root)


@pytest.mark.parametrize("case", BROKEN)
def test_broken_ones_do_not(case: str) -> None:
    found, minor = document(ROOT / "tests/cases/blueprints" / case / "blueprint.yaml")
    assert not is_taken(found.root, minor)


@pytest.mark.parametrize("minor", VERSIONS)
def test_the_schema_is_json_and_each_definition_is_used(minor: int) -> None:
    text = json.dumps(json_schema(minor))
    assert [name for name in json_schema(minor)["definitions"] if f'"#/definitions/{name}"' not in text] == []
    assert is_taken({}, minor)
    assert not is_taken([], minor)


JUNK = st.sampled_from([None, True, 0, -5, 1.5, "", "text", [], ["x"], {}, {"get_input": "a"}])


def values(shape: Shape, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that mostly have a shape."""
    if isinstance(shape, Leaf):
        fitting = {str: st.just("text"), int: st.just(3), float: st.just(0.5), bool: st.booleans()}
        fitting |= {dict: st.just({"a": 1}), list: st.just([1])}
        own = [fitting[kind] for kind in shape.types or ()]
        return st.one_of(*own, *own, *own, JUNK)
    if isinstance(shape, Each):
        return st.dictionaries(
            st.sampled_from(["a", "b"]), st.deferred(lambda: values(shape.of, depth + 1)), max_size=1
        )
    if isinstance(shape, TableRows):
        return st.lists(st.deferred(lambda: values(shape.of, depth + 1)), max_size=1)
    return tables(shape, depth)


@st.composite
def tables(draw: st.DrawFn, table: Table, depth: int) -> Any:
    """Values that mostly are tables."""
    if draw(st.integers(0, 15)) == 0:
        return draw(JUNK)
    some = draw(st.lists(st.sampled_from(sorted(table.keys)), max_size=3))
    names = dict.fromkeys([*(table.required if draw(st.integers(0, 7)) else ()), *some])
    found = {name: draw(values(table.keys[name].shape, depth + 1)) for name in names}
    if draw(st.integers(0, 15)) == 0:
        found["unknown"] = draw(JUNK)
    return found


@given(st.data(), st.sampled_from(VERSIONS))
@settings(max_examples=150)
def test_schema_and_reader_agree_about_the_form_of_sections(data: st.DataObject, minor: int) -> None:
    sections = sorted(BLUEPRINT.keys.keys() - {"imports", "tosca_definitions_version"})
    section = data.draw(st.sampled_from(sections))
    root = {section: data.draw(values(BLUEPRINT.keys[section].shape))}
    report = ProblemReport()
    ShapeCheck(report, minor).check(BLUEPRINT, root, ElementPath(Document("b.yaml", "", root), ()))
    assert is_taken(root, minor) == (report.errors_count == 0), [str(each) for each in report.problems()]
