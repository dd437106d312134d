"""Archives of strangers: what they hold comes out as it is, and what could do harm is refused by name."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from phaseline.catalog.files.archives import ArchiveLimits, ArchiveMember, read_members, unpack
from phaseline.model.problems.problem import ProblemsError

FILES = {"top/blueprint.yaml": b"text", "top/scripts/run.sh": b"#!/bin/sh\n"}
SMALL = ArchiveLimits(members=3, member_bytes=1_000, total_bytes=2_000)


def zipped(files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> bytes:
    """A zip file; ``change`` may alter the entry of each member."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if name.endswith(".sh") else 0o644)) << 16
            change(entry)
            archive.writestr(entry, content)
    return raw.getvalue()


def tarred(
    files: dict[str, bytes], mode: str = "w:gz", change: Callable[[tarfile.TarInfo], None] = lambda _: None
) -> bytes:
    """A tar file packed as ``mode`` says; ``change`` may alter the entry of each member."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode) as archive:  # type: ignore[call-overload]  # the mode is one of tarfile's
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if name.endswith(".sh") else 0o644
            change(entry)
            archive.addfile(entry, io.BytesIO(content))
    return raw.getvalue()


def read(raw: bytes, limits: ArchiveLimits = SMALL) -> list[ArchiveMember]:
    """All members of an archive."""
    return list(read_members(io.BytesIO(raw), "it.zip", limits=limits))


def refusal(raw: bytes, limits: ArchiveLimits = SMALL) -> tuple[str, str]:
    """Code and message of the one problem of an archive."""
    with pytest.raises(ProblemsError) as caught:
        read(raw, limits)
    (problem,) = caught.value.problems
    assert problem.mend
    assert problem.place.file == "it.zip"
    return problem.code, problem.message


@pytest.mark.parametrize(
    "raw",
    [zipped(FILES), *(tarred(FILES, f"w:{packing}") for packing in ("", "gz", "bz2", "xz"))],
    ids=["zip", "tar", "gz", "bz2", "xz"],
)
def test_what_an_archive_holds_comes_out_as_it_is(raw: bytes) -> None:
    found = read(raw)
    assert [(member.name, member.content, member.is_executable) for member in found] == [
        ("top/blueprint.yaml", b"text", False),
        ("top/scripts/run.sh", b"#!/bin/sh\n", True),
    ]


def test_only_what_is_wanted_is_given() -> None:
    found = read_members(io.BytesIO(zipped(FILES)), "it.zip", wanted=lambda name: name.endswith(".yaml"))
    assert [member.name for member in found] == ["top/blueprint.yaml"]


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "..\\evil", "C:/evil"])
def test_a_member_that_leads_out_is_refused(name: str) -> None:
    for raw in (zipped({name: b""}), tarred({name: b""})):
        assert refusal(raw)[0] == "PL-B121"
        assert "leads out of the archive" in refusal(raw)[1]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(kind: bytes) -> None:
    def change(entry: tarfile.TarInfo) -> None:
        entry.type = kind
        entry.linkname = "/etc/passwd"
        entry.size = 0

    assert refusal(tarred({"a": b""}, change=change))[0] == "PL-B121"


def test_a_link_in_a_zip_is_refused() -> None:
    def change(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16

    assert refusal(zipped({"a": b"/etc/passwd"}, change)) == ("PL-B121", "in 'it.zip' the member 'a' is a link")


def test_two_members_of_one_name_are_refused_however_they_are_spelled() -> None:
    assert "is there twice" in refusal(zipped({"a/B": b"", "a/./b": b""}))[1]


def test_a_name_with_a_control_character_is_refused() -> None:
    assert "no file should have" in refusal(tarred({"a\x1b[2J": b""}))[1]


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_more_than_the_limits_is_refused_while_it_comes_out(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    assert refusal(pack({"bomb": b"0" * 1_000_000}))[0] == "PL-B122"
    assert refusal(pack({f"part-{number}": b"0" * 900 for number in range(3)}))[0] == "PL-B122"
    assert refusal(pack({f"part-{number}": b"" for number in range(4)}))[0] == "PL-B122"


def test_a_tar_is_bounded_in_what_nobody_wants() -> None:
    raw = tarred({"bomb": b"0" * 10_000_000})
    assert len(raw) < 20_000
    with pytest.raises(ProblemsError) as caught:
        list(read_members(io.BytesIO(raw), "it.zip", limits=SMALL, wanted=lambda _: False))
    assert caught.value.problems[0].code == "PL-B122"


@pytest.mark.parametrize(
    "raw",
    [b"", b"no archive at all", zipped(FILES)[:-30], tarred(FILES)[:60], b"PK\x05\x06", b"BZh9", b"\x1f\x8b\x08"],
    ids=["nothing", "text", "half a zip", "half a tar", "end of a zip", "beginning of bz2", "beginning of gz"],
)
def test_what_is_damaged_is_said_to_be(raw: bytes) -> None:
    assert refusal(raw)[0] == "PL-B120"


def test_an_encrypted_member_is_refused() -> None:
    raw = bytearray(zipped({"a": b"secret"}))
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(sign) + offset] |= 1
    assert "is encrypted" in refusal(bytes(raw))[1]


def test_an_archive_is_unpacked_into_a_folder(tmp_path: Path) -> None:
    archive = tmp_path / "it.zip"
    archive.write_bytes(zipped(FILES))
    assert unpack(archive, tmp_path / "out") == list(FILES)
    assert (tmp_path / "out/top/blueprint.yaml").read_bytes() == b"text"
    assert (tmp_path / "out/top/scripts/run.sh").stat().st_mode & stat.S_IXUSR


def test_a_file_where_a_folder_must_be_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "it.zip"
    archive.write_bytes(zipped({"a": b"", "a/b": b""}))
    with pytest.raises(ProblemsError, match="cannot be written"):
        unpack(archive, tmp_path / "out")


def test_a_missing_archive_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="No such file"):
        list(read_members(tmp_path / "none.zip", "none.zip"))
