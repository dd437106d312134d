"""B6: rules that lead imports to a mirror, over the file system."""

from pathlib import Path

import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import ProblemsError

MAIN = "tosca_definitions_version: cloudify_dsl_1_4\nimports: ['https://example.org/plugins/a.yaml']\n"


def made(tmp_path: Path) -> tuple[str, str]:
    """(a blueprint that imports from the web, a folder with a mirror)."""
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "a.yaml").write_text("imports: [b.yaml]\ninputs: {a: {}}\n")
    (mirror / "b.yaml").write_text("inputs: {b: {}}\n")
    blueprint = tmp_path / "shop" / "blueprint.yaml"
    blueprint.parent.mkdir()
    blueprint.write_text(MAIN)
    return str(blueprint), f"{mirror}/"


def test_b06_an_import_from_the_web_is_read_from_a_mirror_and_imports_beside_itself(tmp_path: Path) -> None:
    file, mirror = made(tmp_path)
    rules = [("https://example.org/plugins/", "/nowhere/"), ("https://example.org/plugins/", mirror)]
    assert set(read_blueprint(file, BlueprintFiles(file, import_rules=rules)).inputs) == {"a", "b"}


def test_b06_only_the_folder_of_the_rule_may_be_read_besides(tmp_path: Path) -> None:
    file, mirror = made(tmp_path)
    (tmp_path / "secret.yaml").write_text("inputs: {}\n")
    Path(file).write_text(MAIN.replace("'https", f"'{tmp_path}/secret.yaml', 'https"))
    rules = [("https://example.org/plugins/", mirror)]
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(file, BlueprintFiles(file, import_rules=rules))
    assert [problem.code for problem in caught.value.problems] == ["PL-B021"]


def test_b06_without_fallback_the_address_itself_is_not_tried(tmp_path: Path) -> None:
    file, _ = made(tmp_path)
    rules = [("https://example.org/", "/nowhere/")]
    for fallback, code in ((False, "PL-B020"), (True, "PL-B028")):
        with pytest.raises(ProblemsError) as caught:
            read_blueprint(file, BlueprintFiles(file, import_rules=rules, import_fallback=fallback))
        assert [problem.code for problem in caught.value.problems] == [code]
