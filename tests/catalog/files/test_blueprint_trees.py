"""The files of a blueprint's folder: all of them and nothing else, and laid out again exactly so."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from phaseline.catalog.files.archive_writer import pack
from phaseline.catalog.files.blueprint_trees import BlueprintTree, digest_of, materialize_tree, take_up
from phaseline.model.problems.problem import ProblemsError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    for path, text in {
        "blueprint.yaml": "v: 1",
        "scripts/run.sh": "echo",
        "plugins/made.py": "x = 1",
        "plugins/__pycache__/made.pyc": "no",
        ".git/config": "no",
        "deep/er/ä.txt": "ö",
    }.items():
        file = made / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (made / "scripts/run.sh").chmod(0o755)
    return made


def taken(folder: Path) -> BlueprintTree:
    return take_up(str(folder / "blueprint.yaml"))


def refusal(folder: Path, **bounds: int) -> str:
    with pytest.raises(ProblemsError) as caught:
        take_up(str(folder / "blueprint.yaml"), **bounds)
    (problem,) = caught.value.problems
    assert problem.code == "PL-C057"
    return problem.message


def test_b8_all_files_are_taken_up_but_those_of_tools(folder: Path) -> None:
    tree = taken(folder)
    assert [file.path for file in tree.files] == [
        "blueprint.yaml",
        "deep/er/ä.txt",
        "plugins/made.py",
        "scripts/run.sh",
    ]
    assert [file.path for file in tree.files if file.is_executable] == ["scripts/run.sh"]
    assert (tree.main_file, tree.size_bytes) == ("blueprint.yaml", 15)


def test_b8_equal_files_have_one_digest_wherever_they_lie_and_others_another(folder: Path, tmp_path: Path) -> None:
    first = taken(folder)
    folder.rename(tmp_path / "elsewhere")
    assert taken(tmp_path / "elsewhere").digest == first.digest == digest_of("blueprint.yaml", first.files[::-1])
    assert digest_of("other.yaml", first.files) != first.digest
    (tmp_path / "elsewhere/scripts/run.sh").chmod(0o644)
    assert taken(tmp_path / "elsewhere").digest != first.digest


def test_b8_links_within_are_followed_and_those_that_lead_out_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "also.yaml").symlink_to("blueprint.yaml")
    assert "also.yaml" in [file.path for file in taken(folder).files]
    (tmp_path / "passwd").write_text("root")
    (folder / "stolen").symlink_to(tmp_path / "passwd")
    assert refusal(folder) == "'stolen' is a link that leads out of the blueprint's folder"
    (folder / "stolen").unlink()
    (folder / "round").symlink_to(folder / "deep")
    assert refusal(folder) == "'round' is a link to a folder"


def test_b8_what_is_no_file_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert refusal(folder) == "'pipe' is neither a file nor a folder"


def test_b8_too_many_files_and_bytes_are_refused(folder: Path) -> None:
    assert "more than 3 files" in refusal(folder, max_files=3)
    assert "more than 14 bytes" in refusal(folder, max_bytes=14)
    assert len(take_up(str(folder / "blueprint.yaml"), max_files=4, max_bytes=15).files) == 4


def test_b8_a_file_that_changes_meanwhile_is_noticed(folder: Path) -> None:
    tree = taken(folder)
    (folder / "blueprint.yaml").write_text("v: 2")
    with pytest.raises(ProblemsError) as caught:
        tree.content(tree.files[0])
    assert "was changed while it was read" in caught.value.problems[0].message


def test_b8_a_tree_is_laid_out_as_it_was_and_again_after_somebody_changed_it(folder: Path, tmp_path: Path) -> None:
    tree = taken(folder)
    bodies = {file.digest: tree.content(file) for file in tree.files}
    out = tmp_path / "work" / tree.digest
    materialize_tree(out, tree.files, bodies.__getitem__)
    again = taken(out)
    assert again.digest == tree.digest
    assert (out / "blueprint.yaml").stat().st_mode & 0o777 == 0o444
    (out / "blueprint.yaml").unlink()
    (out / "scripts/run.sh").unlink()
    (out / "scripts/run.sh").write_text("rm -rf")
    materialize_tree(out, tree.files, bodies.__getitem__)
    assert taken(out).digest == tree.digest
    assert [path.name for path in out.parent.iterdir()] == [tree.digest]


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_b8_equal_blueprints_make_equal_archives(folder: Path, tmp_path: Path, ending: str) -> None:
    tree = taken(folder)
    first, second = str(tmp_path / f"a{ending}"), str(tmp_path / f"b{ending}")
    pack(tree, "shop", first)
    os.utime(folder / "blueprint.yaml", (5, 5))
    pack(taken(folder), "shop", second)
    assert Path(first).read_bytes() == Path(second).read_bytes()
    with pytest.raises(FileExistsError):
        pack(tree, "shop", first)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{ending}", f"b{ending}", "shop"]
    content = io.BytesIO(Path(first).read_bytes())
    if ending == ".zip":
        with zipfile.ZipFile(content) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(fileobj=content) as archive:
            names = archive.getnames()
            assert archive.getmember("shop/scripts/run.sh").mode == 0o755
    assert names == [f"shop/{file.path}" for file in tree.files]
