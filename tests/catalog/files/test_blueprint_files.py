"""Files of a blueprint: found within their roots, read as text, refused with a reason."""

import os
from pathlib import Path

import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import Problem, ProblemsError


def refusal(files: BlueprintFiles, path: str) -> Problem:
    with pytest.raises(ProblemsError) as caught:
        files.read(path)
    (found,) = caught.value.problems
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "app"
    (made / "parts").mkdir(parents=True)
    (made / "blueprint.yaml").write_text("tosca_definitions_version: cloudify_dsl_1_4\n")
    (made / "parts" / "a.yaml").write_text("inputs: {}\n")
    (tmp_path / "secret.yaml").write_text("inputs: {}\n")
    return made


def test_b06_a_name_is_found_beside_its_importer_and_beside_the_main_file(folder: Path) -> None:
    main = str(folder / "blueprint.yaml")
    files = BlueprintFiles(main)
    found = str(folder / "parts" / "a.yaml")
    assert files.find("parts/a.yaml", main) == found
    assert files.find("a.yaml", found) == found
    assert files.find("parts/a.yaml", found) == found
    assert files.find("nothing.yaml", main) is None
    assert files.find("parts", main) is None


@pytest.mark.parametrize("name", ["../secret.yaml", "link.yaml", "linked/secret.yaml"])
def test_b06_what_lies_outside_the_roots_is_refused_links_included(folder: Path, name: str) -> None:
    (folder / "link.yaml").symlink_to(folder.parent / "secret.yaml")
    (folder / "linked").symlink_to(folder.parent)
    main = str(folder / "blueprint.yaml")
    with pytest.raises(ProblemsError, match="PL-B021"):
        BlueprintFiles(main).find(name, main)
    assert not BlueprintFiles(main).exists(name)


def test_b06_a_further_folder_is_a_root_too(folder: Path) -> None:
    main = str(folder / "blueprint.yaml")
    files = BlueprintFiles(main, [str(folder.parent)])
    assert files.find("secret.yaml", main) == str(folder.parent / "secret.yaml")


def test_scripts_are_files_of_the_blueprints_folder(folder: Path) -> None:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "create.sh").write_text("#!/bin/sh\n")
    files = BlueprintFiles(str(folder / "blueprint.yaml"))
    assert files.exists("scripts/create.sh")
    assert files.exists("./scripts/create.sh")
    assert not files.exists("scripts")
    assert not files.exists("scripts/start.sh")
    assert not files.exists("cloud.tasks.create")
    assert not files.exists("../secret.yaml")
    assert not files.exists("a\0b")
    assert not files.exists("scripts/" + "x" * 5000)


def test_a_file_that_is_too_large_is_refused(folder: Path) -> None:
    main = str(folder / "blueprint.yaml")
    (folder / "blueprint.yaml").write_text("x" * 101)
    found = refusal(BlueprintFiles(main, limit_bytes=100), main)
    assert (found.code, found.place.file) == ("PL-B003", main)
    assert "100 bytes" in found.message


def test_a_file_that_is_not_utf_8_is_refused(folder: Path) -> None:
    main = str(folder / "blueprint.yaml")
    Path(main).write_bytes(b"description: Gr\xfc\xdfe\n")
    assert refusal(BlueprintFiles(main), main).code == "PL-B002"


def test_a_byte_order_mark_is_read_over(folder: Path) -> None:
    main = str(folder / "blueprint.yaml")
    Path(main).write_bytes(b"\xef\xbb\xbfinputs: {}\n")
    assert BlueprintFiles(main).read(main) == "inputs: {}\n"


def test_a_folder_or_a_pipe_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    files = BlueprintFiles(str(folder / "blueprint.yaml"))
    assert refusal(files, str(folder)).code == "PL-B001"
    assert refusal(files, str(folder / "pipe.yaml")).code == "PL-B001"


def test_a_name_that_can_be_no_path_is_refused() -> None:
    files = BlueprintFiles("blueprint.yaml")
    assert refusal(files, "x" * 5000).code == "PL-B001"
    assert files.find("a\0b", "blueprint.yaml") is None


def test_no_file_is_none_and_reading_it_as_a_blueprint_says_so(folder: Path) -> None:
    main = str(folder / "missing.yaml")
    assert BlueprintFiles(main).read(main) is None
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(main, BlueprintFiles(main))
    assert [problem.code for problem in caught.value.problems] == ["PL-B001"]


def test_built_in_types_come_from_the_package() -> None:
    files = BlueprintFiles("blueprint.yaml")
    assert "cloudify_dsl_1_5" in (files.bundled("types.yaml") or "")
    assert files.bundled("nothing.yaml") is None
