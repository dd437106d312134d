"""Tasks that bring files to a place; they take the same way to this machine and to hosts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.run.worlds import World
from tests.tasks.servers import KINDS, server
from tests.tasks.tasked import RUNNERS, world

from phaseline.model.graph.status import OutcomeKind

Make = Callable[..., World]


@pytest.fixture(scope="module", params=["here", KINDS[0]])
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    if request.param == "here":
        yield {"agent_config": {"install_method": "none"}}
        return
    with server(request.param, tmp_path_factory.mktemp("ssh") / "server") as running:
        yield {"ip": "127.0.0.1", "agent_config": {**running.agent_config, "extra": {"host_key": running.host_key}}}


@pytest.fixture
def make(tmp_path: Path, host: dict[str, Any]) -> Iterator[Make]:
    made: list[World] = []

    def build(runner: str, parameters: dict[str, Any]) -> World:
        made.append(world(tmp_path, parameters, runner=RUNNERS[runner], host=host))
        return made[-1]

    yield build
    for one in made:
        one.close()


def mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:04o}"


def test_upload_file_writes_its_data_whole(make: Make, tmp_path: Path) -> None:
    target = tmp_path / "there" / "it's here" / "app.conf"
    parameters = {"path": str(target), "data": "naïve\n" * 10_000, "permissions": "0640"}
    assert make("upload_file", parameters).run(1).kind is OutcomeKind.COMPLETED
    assert (target.read_text(), mode(target)) == ("naïve\n" * 10_000, "0640")
    assert [path.name for path in target.parent.iterdir()] == ["app.conf"]


def test_upload_file_may_write_an_empty_file_over_another(make: Make, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    assert make("upload_file", {"path": str(tmp_path / "old"), "data": ""}).run(1).kind is OutcomeKind.COMPLETED
    assert (tmp_path / "old").read_text() == ""


def test_what_cannot_be_written_is_told_in_the_words_of_the_place(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    answer = make("upload_file", {"path": str(tmp_path / "file" / "below"), "data": "x"}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert "on web_1: files could not be written on" in answer.message
    assert "mkdir" in answer.message


def test_copy_files_takes_files_and_folders_of_the_package(make: Make, tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "etc" / "deep").mkdir(parents=True)
    (package / "etc" / "deep" / "a").write_text("a")
    (package / "key.pem").write_bytes(bytes(range(256)))
    files = [
        {"src": "etc", "dst": str(tmp_path / "out" / "etc")},
        {"src": "key.pem", "dst": str(tmp_path / "out" / "k")},
    ]
    parameters = {"files": files, "permissions": "0600", "dir_permissions": "0700"}
    assert make("copy_files", parameters).run(1).kind is OutcomeKind.COMPLETED
    copied = tmp_path / "out" / "etc" / "deep"
    assert ((copied / "a").read_text(), mode(copied / "a"), mode(copied)) == ("a", "0600", "0700")
    assert ((tmp_path / "out" / "k").read_bytes(), mode(tmp_path / "out" / "k")) == (bytes(range(256)), "0600")


@pytest.mark.parametrize(
    ("src", "said"),
    [
        ("../outside", "'../outside' leads out of the package"),
        ("missing", "does not exist"),
        ("rsync://10.0.0.1:/puppet/", "is an address"),
    ],
)
def test_a_source_that_is_none_is_refused(make: Make, tmp_path: Path, src: str, said: str) -> None:
    answer = make("copy_files", {"files": [{"src": src, "dst": str(tmp_path / "x")}]}).run(1)
    assert answer.kind is OutcomeKind.FAILED
    assert said in answer.message


def test_sync_makes_a_folder_there_the_same_as_that_of_the_package(make: Make, tmp_path: Path) -> None:
    package, target = tmp_path / "package" / "tree", tmp_path / "tree"
    for folder in (package / "kept", package / "new", target / "kept", target / "gone"):
        folder.mkdir(parents=True)
    (package / "kept" / "it's a file").write_text("new")
    (target / "kept" / "it's a file").write_text("old")
    (target / "kept" / "extra file").write_text("old")
    (target / "gone" / "x").write_text("old")
    assert make("sync", {"src": "tree", "dst": str(target)}).run(1).kind is OutcomeKind.COMPLETED
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*")) == ["kept", "kept/it's a file", "new"]
    assert (target / "kept" / "it's a file").read_text() == "new"
    assert not list(tmp_path.glob(".phaseline*"))


def test_sync_of_an_empty_folder_empties(make: Make, tmp_path: Path) -> None:
    (tmp_path / "package" / "tree").mkdir(parents=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "x").write_text("old")
    assert make("sync", {"src": "tree", "dst": str(tmp_path / "tree")}).run(1).kind is OutcomeKind.COMPLETED
    assert list((tmp_path / "tree").iterdir()) == []
