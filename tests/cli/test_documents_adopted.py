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


@pytest.mark.parametrize(
    ("sign", "why"), [("\\u0000", "control character (U+0000)"), ("../", "'/'"), ("\\u202e", "(U+202E)")]
)
@pytest.mark.parametrize("name", ["one", "one_"])
def test_decision_33_a_document_gives_no_name_that_may_do_harm(
    terminal: Terminal, old: Path, name: str, sign: str, why: str
) -> None:
    """Of nodes, which are in its template, and of instances."""
    left = Path("left.json")
    text = left.read_text()
    begin = f'"{name}"' if name == "one" else f'"{name}'
    left.write_text(text.replace(begin, begin.replace("one", f"{sign}one")))
    assert left.read_text() != text
    code, found = terminal.ask("adopt", "left.json", "-d", "two")
    assert (code, {one["code"] for one in found["problems"]}) == (1, {"PL-C081"})
    assert all(why in one["message"] for one in found["problems"])
    assert terminal.ask("deployments", "list")[1]["deployments"] == []


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


def test_h45_8_what_belongs_to_a_deployment_is_not_adopted_once_more_under_another_name(
    terminal: Terminal, old: Path
) -> None:
    assert terminal.run("adopt", "left.json", "-d", "first").exit_code == 0
    for words in (("adopt", "left.json", "-d", "second"), ("adopt", "left.json", "-d", "third", "-i", "word=servus")):
        code, found = terminal.ask(*words)
        assert (code, [one["code"] for one in found["problems"]]) == (1, ["PL-C095"]), found
        assert "'first'" in found["problems"][0]["message"]
    assert [one["name"] for one in terminal.ask("deployments", "list")[1]["deployments"]] == ["first"]
    assert terminal.run("abandon", "-d", "first", "-o", "again.json").exit_code == 0
    assert terminal.run("adopt", "left.json", "-d", "second").exit_code == 0


def test_h45_8_the_same_machine_under_another_id_is_known_by_what_its_cloud_calls_it(
    terminal: Terminal, old: Path
) -> None:
    document = json.loads(Path("left.json").read_text())
    resource = next(iter(document["resources"].values()))
    foreign = {"name": "app", "resources": {"one": {"type": resource["type"], "resource_id": "vm-7"}}}
    Path("theirs.json").write_text(json.dumps(foreign))
    words = ("adopt", "theirs.json", "--blueprint", str(old))
    first = terminal.run(*words, "-d", "first")
    assert first.exit_code == 0, first.output
    assert "PL-C095" in terminal.run(*words, "-d", "second").stderr
    foreign["resources"]["one"]["resource_id"] = "vm-8"
    Path("theirs.json").write_text(json.dumps(foreign))
    assert terminal.run(*words, "-d", "second").exit_code == 0
