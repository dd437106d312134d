"""Documents of deployments that come from elsewhere: whose folder is meant, and which keys are not what they must be."""

import json
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {word: {default: hello}}
node_templates: {one: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def old(terminal: Terminal) -> Path:
    """A blueprint in a folder of its own, whose deployment was abandoned: its document is in ``left.json``."""
    file = terminal.folder / "old" / "app.yaml"
    file.parent.mkdir()
    file.write_text(BLUEPRINT)
    for words in (("install", str(file), "-d", "one"), ("abandon", "-d", "one", "-o", "left.json")):
        result = terminal.run(*words)
        assert result.exit_code == 0, result.output
    return file


def test_h45_everything_of_another_kind_is_named_at_once(terminal: Terminal, old: Path) -> None:
    left = Path("left.json")
    document = json.loads(left.read_text())
    ours = dict.fromkeys(("counts", "instances", "relationships", "files", "code", "groups", "uses"), 7)
    outer = dict.fromkeys(("name", "id", "action", "status", "environment", "files", "tags"), 7)
    left.write_text(json.dumps({**document, **outer, "phaseline": {**document["phaseline"], **ours}}))
    code, found = terminal.ask("adopt", "left.json")
    assert (code, {one["code"] for one in found["problems"]}) == (1, {"PL-C081"})
    assert sorted(one["message"].rpartition(": ")[2] for one in found["problems"]) == sorted(
        [f"'{key}' must be a text" for key in ("name", "id", "action", "status")]
        + [f"'{key}' must be a mapping" for key in ("environment", "files")]
        + [f"'phaseline.{key}' must be a mapping" for key in ("code", "uses", "files", "counts")]
        + [f"'{key}' must be a list" for key in ("tags", "phaseline.instances", "phaseline.groups")]
        + ["'phaseline.relationships' must be a list"]
    )
    document["phaseline"]["instances"].append(7)
    left.write_text(json.dumps(document))
    _, found = terminal.ask("adopt", "left.json")
    assert found["problems"][0]["message"].endswith("each of 'phaseline.instances' must be a mapping")


@pytest.mark.parametrize("what", ["nothing", "an empty folder", "another blueprint", "the same"])
@pytest.mark.parametrize("words", [(), ("-i", "word=servus")])
def test_h45_a_folder_is_used_only_with_the_blueprint_of_the_document_in_it(
    terminal: Terminal, old: Path, what: str, words: tuple[str, ...]
) -> None:
    if what != "the same":
        old.unlink()
    if what == "nothing":
        old.parent.rmdir()
    if what == "another blueprint":
        old.write_text(BLUEPRINT.replace("one:", "two:"))
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{terminal.folder}/other.db"
    result = terminal.run("adopt", "left.json", *words)
    assert result.exit_code == 0, result.output
    kept = [one["blueprint"]["id"] for one in terminal.ask("blueprints", "list")[1]["blueprints"]]
    assert kept == ([] if what == "the same" else ["one"])
