"""The estate of a process: where blueprints of Components may come from, and what it says of deployments (CO1, CO2)."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, Yard

from phaseline.embedded.estate import StoredEstate
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.follow_ups import BlueprintUpload
from phaseline.model.rows.rows import Actor
from phaseline.ports.estate import CallEntry

ENTRY = CallEntry(1, 1, 0, 0, Actor("ann"))


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    found = Yard(tmp_path)
    with found.client:
        yield found


def read(yard: Yard, path: str) -> object:
    return StoredEstate(yard.client.app.request()).read_blueprint(
        ENTRY, "pg", path, "blueprint.yaml", str(yard.folder / "app")
    )


def codes(yard: Yard, path: str) -> set[str]:
    with pytest.raises(ProblemsError) as caught:
        read(yard, path)
    return {problem.code for problem in caught.value.problems}


def test_co2_a_folder_and_an_archive_inside_are_read_and_belong_to_the_entry(yard: Yard) -> None:
    yard.app()
    with zipfile.ZipFile(yard.folder / "app/inner.zip", "w") as archive:
        archive.writestr("blueprint.yaml", INNER)
    for path in ("inner", "inner.zip"):
        found = read(yard, path)
        assert isinstance(found, BlueprintUpload)
        assert (found.blueprint.id, found.cause) == ("pg", ENTRY.cause)


def test_co2_nothing_outside_the_folder_is_read(yard: Yard) -> None:
    yard.app()
    yard.write("secret/blueprint.yaml", INNER)
    (yard.folder / "app/link").symlink_to(yard.folder / "secret")
    for path in ("../secret", "link", str(yard.folder / "secret"), "https://example.org/pg.zip", "nowhere"):
        assert codes(yard, path) == {"PL-C113"}


def test_co2_a_bad_archive_is_refused(yard: Yard) -> None:
    yard.app()
    (yard.folder / "app/empty.zip").touch()
    with zipfile.ZipFile(yard.folder / "app/out.zip", "w") as archive:
        archive.writestr("../evil.yaml", INNER)
    with zipfile.ZipFile(yard.folder / "app/none.zip", "w") as archive:
        archive.writestr("other.yaml", INNER)
    assert codes(yard, "none.zip") == {"PL-C057"}
    for path in ("empty.zip", "out.zip"):
        assert codes(yard, path) <= {"PL-B120", "PL-B121", "PL-B122"}
    assert not (yard.folder / "evil.yaml").exists()
