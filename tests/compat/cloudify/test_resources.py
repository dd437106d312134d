"""Files of the blueprint through ``ctx`` (C6)."""

from pathlib import Path
from typing import Any

import pytest
from tests.compat.cloudify.builders import node_call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    blueprint = tmp_path / "blueprint"
    (blueprint / "files").mkdir(parents=True)
    (blueprint / "files/plain.txt").write_bytes(b"as it is\n")
    (blueprint / "files/page.html").write_text("port {{ ctx.node.properties.port }} for {{ who }}\n")
    (blueprint / "files/binary").write_bytes(b"\xff\xfe{{")
    (tmp_path / "secret").write_text("outside")
    (blueprint / "link").symlink_to(tmp_path / "secret")
    return blueprint


@pytest.fixture
def ctx(folder: Path) -> Any:
    from cloudify.context import CloudifyContext

    return CloudifyContext(node_call(folder=folder))


def test_c6_get_resource_returns_bytes(ctx: Any) -> None:
    assert ctx.get_resource("files/plain.txt") == b"as it is\n"


def test_c6_download_resource_gives_a_file_with_the_name_as_suffix(ctx: Any) -> None:
    path = Path(ctx.download_resource("files/plain.txt"))
    assert path.name.endswith("plain.txt")
    assert path.read_bytes() == b"as it is\n"
    path.unlink()


def test_c6_download_resource_to_a_target(ctx: Any, tmp_path: Path) -> None:
    target = tmp_path / "deep/down/copy"
    assert ctx.download_resource("files/plain.txt", str(target)) == str(target)
    assert target.read_bytes() == b"as it is\n"


def test_c6_templates_see_their_variables_and_ctx(ctx: Any) -> None:
    assert ctx.get_resource_and_render("files/page.html", {"who": "ann"}) == "port 8080 for ann\n"
    path = Path(ctx.download_resource_and_render("files/page.html", template_variables={"who": "bob"}))
    assert path.read_text() == "port 8080 for bob\n"
    path.unlink()


def test_c6_text_without_marks_and_binaries_are_not_rendered(ctx: Any) -> None:
    assert ctx.get_resource_and_render("files/plain.txt") == "as it is\n"
    assert ctx.get_resource_and_render("files/binary") == b"\xff\xfe{{"


def test_c6_variable_named_ctx_is_an_error(ctx: Any) -> None:
    from cloudify.exceptions import NonRecoverableError

    with pytest.raises(NonRecoverableError, match="ctx"):
        ctx.get_resource_and_render("files/page.html", {"ctx": 1})


def test_c6_broken_template_names_file_and_line(ctx: Any, folder: Path) -> None:
    from cloudify.exceptions import NonRecoverableError

    (folder / "bad").write_text("fine\n{% if %}\n")
    with pytest.raises(NonRecoverableError, match="bad:2"):
        ctx.get_resource_and_render("bad")


def test_c6_missing_resource_is_a_404(ctx: Any) -> None:
    from cloudify.exceptions import HttpException

    with pytest.raises(HttpException) as caught:
        ctx.get_resource("files/none.txt")
    assert caught.value.code == 404
    assert "files/none.txt" in str(caught.value)


@pytest.mark.parametrize("path", ["../secret", "files/../../secret", "link"])
def test_c6_paths_that_leave_the_blueprint_are_refused(ctx: Any, path: str) -> None:
    from cloudify.exceptions import NonRecoverableError

    for read in (ctx.get_resource, ctx.download_resource, ctx.get_resource_and_render):
        with pytest.raises(NonRecoverableError, match="leads out of the blueprint"):
            read(path)


def test_c6_folder_is_downloaded_whole(ctx: Any, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    assert ctx.download_directory("files", str(target)) == str(target)
    assert {path.name for path in target.iterdir()} == {"plain.txt", "page.html", "binary"}
