"""``explain`` says the values that the reader merges, and that they are written where it says."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.dsl.readers import MAIN, Texts, whole

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.documents.provenance import explain
from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.reader import read_whole
from phaseline.model.blueprint.blueprint import Operation, Value
from phaseline.model.blueprint.provenance import Explained

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    [
        *ROOT.glob("examples/*/blueprint.yaml"),
        *ROOT.glob("tests/cases/plans/*/blueprint.yaml"),
        *ROOT.glob("tests/cases/corpus/*/blueprint.yaml"),
    ]
)
FIELDS = {"max_retries": "max_retries", "retry_interval_s": "retry_interval", "timeout_s": "timeout"}


def told(text: str, node: str = "web", **others: str) -> dict[str, tuple[Any, list[str]]]:
    """{path: (value, [line:who, …])} of a node of a blueprint in memory."""
    texts = Texts({MAIN: whole(text), **{name.replace("_yaml", ".yaml"): item for name, item in others.items()}})
    found = explain(*read_whole(MAIN, texts), node)
    return {
        piece.path: (piece.value, [f"{each.name}:{each.place.line}" for each in (piece.origin, *piece.over)])
        for piece in found.pieces
    }


def rebuilt(found: Explained, prefix: str) -> dict[str, Any]:
    """What the pieces below a path are together."""
    whole_value: dict[str, Any] = {}
    for piece in found.pieces:
        if piece.path.startswith(prefix):
            steps = piece.path.removeprefix(prefix).split(".")
            below = whole_value
            for step in steps[:-1]:
                below = below.setdefault(step, {})
            below[steps[-1]] = piece.value
    return whole_value


def flat(value: object, path: str = "") -> dict[str, object]:
    """{dotted path: leaf}, so that keys with dots do not matter."""
    if isinstance(value, dict) and value:
        return {key: leaf for name, item in value.items() for key, leaf in flat(item, f"{path}.{name}").items()}
    return {path: value}


def plain(value: Value) -> Value:
    """A function without the type beside it, which the reader puts there."""
    if isinstance(value, dict) and is_function(value):
        return {name: item for name, item in value.items() if name != "type"}
    return value


def expected(operation: Operation) -> dict[str, object]:
    """The fields of an operation that explain should tell of."""
    fields: dict[str, object] = {"inputs": {key: plain(value) for key, value in operation.inputs.items()}}
    fields = fields if operation.inputs else {}
    for name, word in FIELDS.items():
        if getattr(operation, name) is not None:
            fields[word] = getattr(operation, name)
    return fields


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_what_is_explained_is_what_is_merged(file: Path, corpus_types: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    blueprint, sections = read_whole(file.name, BlueprintFiles(file.name, types_folder=corpus_types))
    for node in blueprint.nodes.values():
        found = explain(blueprint, sections, node.name)
        assert flat(rebuilt(found, "properties.")) == flat(dict(node.properties))
        for name, operation in node.operations.items():
            fields = rebuilt(found, f"interfaces.{name}.")
            if operation.is_implemented:
                assert flat({key: fields[key] for key in fields if key in ("inputs", *FIELDS.values())}) == flat(
                    expected(operation)
                )
        for number, relationship in enumerate(node.relationships):
            assert flat(rebuilt(found, f"relationships[{number}].properties.")) == flat(dict(relationship.properties))
        for piece in found.pieces:
            last = re.split(r"[.\[]", piece.path)[-1].rstrip("]")
            text = piece.origin.place.text
            assert piece.origin.place.line, piece
            assert not isinstance(piece.value, int) or str(piece.value).lower() in text.lower() or last in text, piece


TYPES = """
data_types:
  Disk: {properties: {size: {default: 10}, kind: {default: hdd}, mount: {type: Mount}}}
  Mount: {properties: {path: {default: /mnt}, options: {required: false}}}
node_types:
  Base:
    derived_from: cloudify.nodes.Root
    properties:
      disk: {type: Disk, default: {kind: ssd}}
      port: {default: 80}
      tags: {default: {a: 1}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: p.m.create, inputs: {x: {default: 1}, y: {default: 2}}, max_retries: 3}
        start: {implementation: p.m.start, inputs: {x: {default: 1}}}
        stop: p.m.stop
  Web:
    derived_from: Base
    properties: {port: {default: 8080}}
plugins: {p: {executor: central_deployment_agent, install: false}}
node_templates:
  db: {type: Base}
  web:
    type: Web
    properties: {disk: {size: 20}, tags: {b: 2}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {inputs: {y: 3}}
        start: {implementation: p.m.other, inputs: {z: 4}}
        stop: {}
"""


def test_parts_of_a_data_type_come_from_whoever_gave_each() -> None:
    found = told(TYPES)
    assert found["properties.disk.size"] == (20, ["web:26", "Disk:4"])
    assert found["properties.disk.kind"] == ("ssd", ["Base:10", "Disk:4"])
    assert found["properties.disk.mount.path"] == ("/mnt", ["Mount:5"])


def test_a_type_over_its_parent_and_a_template_over_its_type() -> None:
    found = told(TYPES)
    assert found["properties.port"] == (8080, ["Web:20"])
    assert found["properties.tags"] == ({"b": 2}, ["web:26", "Base:12"])


def test_operations_are_extended_replaced_or_left_out() -> None:
    found = {path.removeprefix("interfaces.cloudify.interfaces.lifecycle."): item for path, item in told(TYPES).items()}
    assert found["create.implementation"] == ("p.m.create", ["Base:15"])
    assert found["create.inputs.y"] == (3, ["web:29", "Base:15"])
    assert found["create.inputs.x"] == (1, ["Base:15"])
    assert found["create.max_retries"] == (3, ["Base:15"])
    assert found["start.implementation"] == ("p.m.other", ["web:30", "Base:16"])
    assert "start.inputs.x" not in found
    assert found["stop"] == (None, ["web:31"])


def test_a_data_type_that_is_declared_again_keeps_what_the_parents_gave() -> None:
    found = told(TYPES.replace("{port: {default: 8080}}", "{disk: {type: Disk, default: {mount: {path: /srv}}}}"))
    assert found["properties.disk.kind"] == ("ssd", ["Base:10", "Disk:4"])
    assert found["properties.disk.mount.path"] == ("/srv", ["Web:20", "Mount:5"])


def test_an_operation_that_maps_nothing_says_only_what_it_says() -> None:
    found = told(
        TYPES.replace("stop: {}", "stop: {implementation: '', executor: central_deployment_agent, max_retries: 2}")
    )
    below = [path for path in found if ".stop." in path]
    assert [path.rpartition(".")[2] for path in below] == ["implementation", "executor", "max_retries"]


def test_a_relationship_that_another_file_adds_is_placed_in_that_file() -> None:
    main = """
    imports: [cloudify/types/types.yaml, more.yaml]
    node_templates:
      web: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.depends_on, target: db}]}
      db: {type: cloudify.nodes.Root}
    """
    more = (
        "node_templates:\n  web:\n    relationships:\n    - {type: cloudify.relationships.connected_to, target: db}\n"
    )
    texts = Texts({MAIN: whole(main), "more.yaml": more})
    found = explain(*read_whole(MAIN, texts), "web")
    places = {piece.path: str(piece.origin.place) for piece in found.pieces}
    assert places["relationships[0].type"] == "blueprint.yaml:4:59"
    assert places["relationships[1].type"] == "more.yaml:4:14"
    assert str(found.imports["more.yaml"]) == "blueprint.yaml:2:38"


def test_b08_a_node_of_a_namespace_is_explained_by_its_full_name() -> None:
    main = "imports: [cloudify/types/types.yaml, ns--part.yaml]\n"
    part = "node_types: {T: {derived_from: cloudify.nodes.Root, properties: {a: {default: 1}}}}\nnode_templates: {n: {type: T}}\n"
    texts = Texts({MAIN: whole(main), "part.yaml": part})
    found = explain(*read_whole(MAIN, texts), "ns--n")
    assert [(piece.value, piece.origin.name, str(piece.origin.place)) for piece in found.pieces][-1] == (
        1,
        "ns--T",
        "part.yaml:1:79",
    )


def test_counts_of_instances_are_explained() -> None:
    text = """
    node_templates:
      web: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 2}}}}
      db: {type: cloudify.nodes.Root, instances: {deploy: 3}}
    """
    assert told(text)["capabilities.scalable.properties.default_instances"] == (2, ["web:4"])
    assert told(text, "db")["instances.deploy"] == (3, ["db:5"])
