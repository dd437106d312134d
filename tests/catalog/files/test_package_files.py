"""Archives of packages: read within bounds, whoever packed them, and nothing is written outside (F48)."""

import io
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from phaseline.catalog.files.package_files import opened
from phaseline.catalog.files.rpm_files import MAGIC, read_cpio
from phaseline.model.problems.problem import ProblemsError

FILES = {"metadata.yaml": b"name: ntp\n", "deployment_scripts/run.sh": b"#!/bin/sh\n", "repositories/ubuntu/": b""}


def tarred(
    files: dict[str, bytes], top: str = "ntp-1.0/", change: Callable[[tarfile.TarInfo], None] | None = None
) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(top + name)
            entry.size, entry.mode = len(content), 0o755 if name.endswith(".sh") else 0o644
            if name.endswith("/"):
                entry.type = tarfile.DIRTYPE
            if change is not None:
                change(entry)
            archive.addfile(entry, io.BytesIO(content))
    return raw.getvalue()


def zipped(files: dict[str, bytes], top: str = "ntp/") -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(top + name)
            entry.external_attr = (stat.S_IFREG | (0o755 if name.endswith(".sh") else 0o644)) << 16
            archive.writestr(entry, content)
    return raw.getvalue()


def cpio(files: dict[str, bytes], top: str = "./var/www/nailgun/plugins/ntp-1.0/") -> bytes:
    """A stream as ``rpm2cpio`` gives it."""
    parts = []
    for name, content in [*((top + name, content) for name, content in files.items()), ("TRAILER!!!", b"")]:
        mode = stat.S_IFDIR | 0o755 if name.endswith("/") else stat.S_IFREG | (0o755 if name.endswith(".sh") else 0o644)
        called = name.rstrip("/").encode() + b"\0"
        numbers = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(called), 0]
        head = b"070701" + "".join(f"{number:08x}" for number in numbers).encode()
        parts += [head, called, b"\0" * (-(len(head) + len(called)) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(parts)


def told(path: Path) -> list[tuple[str, bool]]:
    with opened(path) as files:
        return [(file.path, file.is_executable) for file in files.tree.files]


ALL = [("deployment_scripts/run.sh", True), ("metadata.yaml", False), ("repositories/ubuntu/", False)]


@pytest.mark.parametrize("name", ["ntp.tar.gz", "ntp-1.0.fp", "ntp.whl", "ntp.zip"])
def test_every_form_of_an_archive_gives_the_same_package(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(zipped(FILES) if name.endswith(("whl", "zip")) else tarred(FILES))
    assert told(path) == ALL
    with opened(path) as files:
        assert files.documents["metadata.yaml"] == b"name: ntp\n"
        assert files.documents["deployment_scripts/run.sh"] == b"", "only documents are handed over"


def test_a_folder_and_its_archive_are_the_same_package(tmp_path: Path) -> None:
    folder = tmp_path / "ntp"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).mkdir(parents=True) if name.endswith("/") else (folder / name).write_bytes(content)
    (folder / "deployment_scripts/run.sh").chmod(0o755)
    (folder / ".git").mkdir()
    (folder / "metadata.yaml~").write_text("junk")
    (tmp_path / "ntp.fp").write_bytes(tarred(FILES))
    assert told(folder) == ALL
    with opened(folder) as one, opened(tmp_path / "ntp.fp") as other:
        assert one.tree.digest == other.tree.digest


def test_an_rpm_is_unpacked_by_its_own_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ntp.rpm"
    path.write_bytes(MAGIC + cpio(FILES))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProblemsError) as raised, opened(path):
        pass
    assert "rpm2cpio, which is not installed" in raised.value.problems[0].message
    program = tmp_path / "rpm2cpio"  # the true one takes the payload of what it reads; this one cuts off the magic
    program.write_text(f"#!{shutil.which('sh', path=os.defpath)}\nPATH={os.defpath} exec tail -c +5\n")
    program.chmod(0o755)
    assert told(path) == ALL


@pytest.mark.parametrize(
    "damage",
    [b"", b"070701" + b"0" * 20, cpio(FILES)[:-200], b"0707070" * 40],
    ids=["empty", "head", "short", "no-cpio"],
)
def test_a_damaged_cpio_stream_is_an_error_and_no_package(damage: bytes) -> None:
    with pytest.raises((EOFError, ValueError)):
        [entry.stream.read() for entry in read_cpio(io.BytesIO(damage))]


def linked(to: str, kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def change(entry: tarfile.TarInfo) -> None:
        if entry.name.endswith("run.sh"):
            entry.type, entry.linkname, entry.size = kind, to, 0

    return change


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (tarred({"../x": b"out"}, top=""), "PL-B121"),
        (tarred({"a/../../x": b"out"}, top=""), "PL-B121"),
        (tarred({"/tmp/x": b"out"}, top=""), "PL-B121"),
        (tarred(FILES, change=linked("/etc/passwd", tarfile.SYMTYPE)), "PL-B121"),
        (tarred(FILES, change=linked("../../x", tarfile.LNKTYPE)), "PL-B121"),
        (zipped({"../x": b"out"}), "PL-B121"),
        (b"not an archive at all", "PL-B120"),
        (tarred({"readme.txt": b"hello"}), "PL-F060"),
        (tarred({"a/metadata.yaml": b"", "b/metadata.yaml": b""}), "PL-F060"),
    ],
    ids=["up", "up-below", "absolute", "link", "hard-link", "zip-up", "no-archive", "no-package", "two-packages"],
)
def test_f48_what_could_do_harm_is_refused_and_nothing_is_written_outside(
    tmp_path: Path, raw: bytes, code: str
) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "it.tar.gz"
    path.write_bytes(raw)
    with pytest.raises(ProblemsError) as raised, opened(path):
        pass
    assert [problem.code for problem in raised.value.problems] == [code]
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "in", path]


def test_links_to_folders_inside_a_package_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "ntp"
    (folder / "puppet" / "lib").mkdir(parents=True)
    (folder / "metadata.yaml").write_bytes(FILES["metadata.yaml"])
    (folder / "puppet" / "lib" / "a.rb").write_text("a")
    (folder / "deployment_scripts").mkdir()
    (folder / "deployment_scripts" / "lib").symlink_to("../puppet/lib")
    (folder / "deployment_scripts" / "again").symlink_to("lib")
    with opened(folder) as files:
        assert [file.path for file in files.tree.files] == [
            "deployment_scripts/again/a.rb",
            "deployment_scripts/lib/a.rb",
            "metadata.yaml",
            "puppet/lib/a.rb",
        ]


def linked(name: str, target: str, *, kind: bytes = tarfile.SYMTYPE) -> bytes:
    """An archive with a link before the files to which it leads."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        entry = tarfile.TarInfo(f"ntp-1.0/{name}")
        entry.type, entry.linkname = kind, target
        archive.addfile(entry)
        for path, content in (("metadata.yaml", b"name: ntp\n"), ("puppet/lib/a.rb", b"a")):
            entry = tarfile.TarInfo(f"ntp-1.0/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return raw.getvalue()


def test_links_inside_an_archive_of_a_package_are_followed(tmp_path: Path) -> None:
    (tmp_path / "ntp.fp").write_bytes(linked("deployment_scripts/lib", "../puppet/lib"))
    with opened(tmp_path / "ntp.fp") as files:
        assert [file.path for file in files.tree.files] == [
            "deployment_scripts/lib/a.rb",
            "metadata.yaml",
            "puppet/lib/a.rb",
        ]


@pytest.mark.parametrize("target", ["/etc", "../../..", "../../../etc/passwd", "..", "nowhere"])
def test_f48_links_out_of_an_archive_or_to_nothing_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "ntp.fp").write_bytes(linked("deployment_scripts", target))
    with pytest.raises(ProblemsError), opened(tmp_path / "ntp.fp"):
        pass


def test_f48_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "ntp.fp").write_bytes(linked("puppet", "deployment_scripts"))
    with pytest.raises(ProblemsError), opened(tmp_path / "ntp.fp"):
        pass
    (tmp_path / "ntp.fp").write_bytes(linked("hard", "ntp-1.0/metadata.yaml", kind=tarfile.LNKTYPE))
    with pytest.raises(ProblemsError, match="leads out"), opened(tmp_path / "ntp.fp"):
        pass


@pytest.mark.parametrize("leads", ["..", ".", "../.."])
def test_f48_a_link_to_a_folder_that_it_lies_in_is_refused(tmp_path: Path, leads: str) -> None:
    folder = tmp_path / "ntp"
    (folder / "one" / "two").mkdir(parents=True)
    (folder / "metadata.yaml").write_bytes(FILES["metadata.yaml"])
    (folder / "one" / "two" / "up").symlink_to(leads)
    with pytest.raises(ProblemsError) as raised, opened(folder):
        pass
    assert "is a link to a folder that contains it" in raised.value.problems[0].message


def test_f48_a_folder_with_a_link_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ntp").mkdir()
    (tmp_path / "ntp/metadata.yaml").write_text("name: ntp\n")
    (tmp_path / "ntp/secret").symlink_to("/etc/passwd")
    with pytest.raises(ProblemsError) as raised, opened(tmp_path / "ntp"):
        pass
    assert raised.value.problems[0].code == "PL-F060"
    assert "leads out of the package's folder" in raised.value.problems[0].message
