"""Sites of several releases side by side, as ``tools/website/versions.py`` lays them out."""

import doctest
import json
from pathlib import Path

import pytest

from tools.website import versions
from tools.website.pages import ROOT


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site/adr").mkdir(parents=True)
    for name in ("index.html", "adr/1.html"):
        (tmp_path / "site" / name).write_text(f"<p>0.9.0</p>{{{versions.WITHOUT}}}", "utf-8")
    return tmp_path / "site"


def test_releases_stand_side_by_side_and_the_newest_is_the_latest(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    assert versions.publish(site, folder, "0.9.0") == ["0.9.0"]
    (site / "index.html").write_text("0.10.0", "utf-8")
    assert versions.publish(site, folder, "0.10.0") == ["0.10.0", "0.9.0"]
    assert (folder / "latest/index.html").read_text("utf-8") == "0.10.0"
    assert "<p>0.9.0</p>" in (folder / "0.9.0/index.html").read_text("utf-8")
    listed = json.loads((folder / "versions.json").read_text("utf-8"))
    assert [(one["version"], one["aliases"]) for one in listed] == [("0.10.0", ["latest"]), ("0.9.0", [])]
    assert "url=latest/index.html" in (folder / "index.html").read_text("utf-8")


def test_a_mended_older_release_leaves_the_latest_alone(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    versions.publish(site, folder, "1.0.0")
    (site / "index.html").write_text("mended", "utf-8")
    versions.publish(site, folder, "0.9.1")
    assert (folder / "0.9.1/index.html").read_text("utf-8") == "mended"
    assert "<p>" in (folder / "latest/index.html").read_text("utf-8")


def test_published_pages_ask_for_the_other_versions(site: Path, tmp_path: Path) -> None:
    versions.publish(site, tmp_path / "published", "1.0.0")
    for page in ("1.0.0/index.html", "latest/adr/1.html"):
        assert versions.WITH in (tmp_path / "published" / page).read_text("utf-8")


def test_a_built_page_has_what_is_replaced() -> None:
    assert all(
        (ROOT / "site" / page).read_text("utf-8").count(versions.WITHOUT) == 1
        for page in ("index.html", "adr/index.html")
    )


def test_examples_in_docstrings_run() -> None:
    result = doctest.testmod(versions)
    assert result.attempted
    assert not result.failed


def test_without_a_folder_it_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert versions.main([]) == 2
    assert "FOLDER" in capsys.readouterr().out
