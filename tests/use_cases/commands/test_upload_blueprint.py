"""Uploads of one blueprint at the same time, and beside others who delete it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

import phaseline
from phaseline.catalog.files.blueprint_trees import BlueprintTree, take_up
from phaseline.model.blueprint.stored_blueprints import BlueprintShelf, StoredBlueprint, StoredFile
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.memory.stored_blueprints import MemoryBlueprints
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.use_cases.commands.upload_blueprint import add_blueprint

TEXT = "tosca_definitions_version: cloudify_dsl_1_4\ndescription: %s\n"


def test_uploads_of_one_id_at_once_are_versions_one_after_another(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "blueprint.yaml").write_text(TEXT % name)
    url = f"sqlite:///{tmp_path}/store.db"
    phaseline.open(url).close()

    def upload(name: str) -> tuple[int, bool]:
        with phaseline.open(url) as place:
            done = place.blueprints.upload(str(tmp_path / name), "shop")
            return done.blueprint.version, done.is_new

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(upload, ["first", "second"] * 4))
    made = sorted(version for version, is_new in told if is_new)
    assert made == list(range(1, len(made) + 1))
    assert len(made) >= 2
    assert {version for version, is_new in told if not is_new} <= set(made)


class Between(MemoryBlueprints):
    """A shelf on which others delete, ``times`` times, what was just seen: content, then the equal version."""

    def __init__(self, times: int) -> None:
        super().__init__(nullcontext, dict, MemoryTenantRows(MemoryTables()))
        self.times = times

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """As if everything were there."""
        return digests[:0]

    def add(
        self,
        new: StoredBlueprint,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        imports: Sequence[int] = (),
    ) -> StoredBlueprint | None:
        """The equal version goes as soon as it was seen."""
        row = super().add(new, files, contents, imports)
        if self.times:
            self.times -= 1
            self.delete([each.number for each in self.all()])
            return None
        return row


def tree(folder: Path) -> BlueprintTree:
    (folder / "blueprint.yaml").write_text(TEXT % "a")
    return take_up(str(folder / "blueprint.yaml"))


def new(tree: BlueprintTree) -> StoredBlueprint:
    return StoredBlueprint(0, "shop", 0, tree.main_file, tree.digest, "", "cloudify_dsl_1_4", 1, 10, 0, "ann")


def test_content_that_is_deleted_meanwhile_is_given_again(tmp_path: Path) -> None:
    made = tree(tmp_path)
    shelf: BlueprintShelf = Between(0)
    row, is_new = add_blueprint(shelf, new(made), made, [])
    assert (row.version, is_new) == (1, True)
    assert shelf.content(made.files[0].digest).startswith(b"tosca")
    assert add_blueprint(shelf, new(made), made, []) == (row, False)


@pytest.mark.parametrize(("times", "is_told"), [(1, False), (4, False), (1_000, True)])
def test_a_version_that_is_deleted_meanwhile_is_stored_again_within_bounds(
    tmp_path: Path, times: int, *, is_told: bool
) -> None:
    made = tree(tmp_path)
    shelf = Between(0)
    add_blueprint(shelf, new(made), made, [])
    shelf.times = times
    if is_told:
        with pytest.raises(ProblemsError, match="PL-C057"):
            add_blueprint(shelf, new(made), made, [])
    else:
        assert add_blueprint(shelf, new(made), made, [])[1]
