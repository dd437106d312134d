"""Modules with operations are found by their text, in folders and behind entry points."""

from pathlib import Path

import pytest

from phaseline.catalog.code.operation_modules import OperationModule, operation_modules

NATIVE = "from phaseline import operation\n\n\n@operation(bulk=True)\ndef create(batch): ...\n\n\nraise SystemExit\n"
CLOUDIFY = "from cloudify.decorators import operation\n\n\n@operation\ndef stop(ctx): ...\n\n\ndef plain(ctx): ...\n"


def test_modules_are_named_by_their_paths(tmp_path: Path) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text(NATIVE)
    (package / "old.py").write_text(CLOUDIFY)
    (tmp_path / "other.py").write_text("X = 'operation'\n")
    (tmp_path / "bad.py").write_text("operation = (")
    phases = "from phaseline import phase  # no operation\n@phase(name='P', states='A', resource_type='T')\ndef handle(h): ...\n"
    (tmp_path / "phases.py").write_text(phases)
    found = list(operation_modules([str(tmp_path), str(tmp_path)]))
    assert found == [
        OperationModule("shop", f"{package}/__init__.py", ("create",)),
        OperationModule("shop.old", f"{package}/old.py", ("stop",)),
    ]


def test_modules_of_a_source_distribution_have_the_names_they_are_imported_by(tmp_path: Path) -> None:
    for folder, mark in (("acme/src/acme_code", "pyproject.toml"), ("flat/code", "setup.py")):
        package = tmp_path / folder
        package.mkdir(parents=True)
        (tmp_path / folder.partition("/")[0] / mark).touch()
        (package / "__init__.py").touch()
        (package / "machines.py").write_text(NATIVE)
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("__init__.py", "setup.py"):
        (inside / name).touch()
    (inside / "disks.py").write_text(NATIVE)
    found = {module.name for module in operation_modules([str(tmp_path)])}
    assert found == {"acme_code.machines", "code.machines", "inside.disks"}


def test_modules_of_installed_distributions_are_told_with_their_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "acme_shop-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-shop\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[phaseline.operations]\nshop = acme_shop_code\ngone = acme_shop_gone\n")
    (tmp_path / "acme_shop_code.py").write_text(NATIVE)
    monkeypatch.syspath_prepend(tmp_path)
    gone, shop = operation_modules([])
    assert (gone.name, gone.file, gone.functions) == ("acme_shop_gone", "", ())
    assert (shop.package, shop.functions) == ("shop", ("create",))
