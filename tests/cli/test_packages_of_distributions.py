"""Packages that distributions of Python ship: the entry-point group ``phaseline.packages`` (decision 14)."""

import shutil
import zipfile
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.cli.test_packages import asked, package, refused, run

ENTRY = "[phaseline.packages]\nntp = acme_ntp.package\n"


@pytest.fixture
def site(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path of Python, with an installed distribution that ships a package."""
    folder = tmp_path / "site"
    distribution(folder, ENTRY)
    renew(terminal, folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def distribution(folder: Path, entry_points: str) -> Path:
    info = folder / "acme_ntp-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-ntp\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return info


def renew(terminal: Terminal, folder: Path, version: str = "1.0.1") -> None:
    """Another version of the distribution is installed in the place of the former."""
    shutil.rmtree(folder / "acme_ntp", ignore_errors=True)
    shutil.copytree(package(terminal.folder, version=version), folder / "acme_ntp/package")
    (folder / "acme_ntp/__init__.py").write_text("raise RuntimeError('nobody imports this')\n")


def wheel(terminal: Terminal, folder: Path) -> Path:
    file = terminal.folder / "acme_ntp-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as opened:
        for path in sorted(folder.rglob("*")):
            opened.write(path, path.relative_to(folder).as_posix())
    return file


def listed(terminal: Terminal) -> list[tuple[str, str, str]]:
    found = asked(terminal, "plugins", "list")
    return [(row["name"], row["version"], row["status"]) for row in found if row["kind"] == "package"]


def outcomes(terminal: Terminal, code: int = 0) -> list[str]:
    return [row["outcome"] for row in asked(terminal, "plugins", "sync", code=code)["rows"]]


def test_decision14_a_package_of_an_installed_distribution_is_listed_and_a_sync_brings_it(
    terminal: Terminal, site: Path
) -> None:
    assert listed(terminal) == [("ntp", "1.0.1", "announced")]
    (terminal.folder / "b.yaml").write_text("tosca_definitions_version: cloudify_dsl_1_4\n")
    run(terminal, "deployments", "create", "b.yaml", "-d", "shop")
    result = terminal.run("deployments", "plugins", "enable", "shop", "ntp")
    assert "register it, as a distribution announces it: phaseline plugins sync" in result.stderr
    assert outcomes(terminal) == ["created"]
    assert listed(terminal) == [("ntp", "1.0.1", "good")]
    assert "where       distribution acme-ntp: ntp" in run(terminal, "plugins", "show", "ntp")
    assert outcomes(terminal) == ["unchanged"]
    assert outcomes(terminal) == ["unchanged"]
    renew(terminal, site, "2.0.0")
    assert outcomes(terminal) == ["updated"]
    run(terminal, "deployments", "plugins", "enable", "shop", "ntp")
    shutil.rmtree(site)
    assert outcomes(terminal, code=1) == ["kept"], "a deployment uses it"
    run(terminal, "deployments", "plugins", "disable", "shop", "ntp")
    assert outcomes(terminal) == ["removed"]


def test_decision14_a_sync_of_folders_leaves_packages_of_distributions_alone(terminal: Terminal, site: Path) -> None:
    assert outcomes(terminal) == ["created"]
    shutil.rmtree(site)
    (terminal.folder / "none").mkdir()
    assert asked(terminal, "plugins", "sync", "none")["rows"] == []
    assert listed(terminal) == [("ntp", "1.0.1", "good")]


def test_decision14_a_distribution_may_be_registered_by_name(terminal: Terminal, site: Path) -> None:
    assert run(terminal, "plugins", "register", "ntp==1.0.1") == "Registered: ntp==1.0.1 (distribution acme-ntp: ntp)\n"
    assert outcomes(terminal) == ["unchanged"]


def test_decision14_an_entry_point_without_a_package_is_told_and_stops_nobody(terminal: Terminal, site: Path) -> None:
    entries = site / "acme_ntp-1.0.dist-info/entry_points.txt"
    entries.write_text(f"{ENTRY}nothing = acme_ntp.gone\nplain = acme_ntp\n")
    found = asked(terminal, "plugins", "sync", code=1)["rows"]
    assert [row["outcome"] for row in found] == ["broken", "created", "broken"]
    assert "names 'acme_ntp.gone', which is no folder with modules" in found[0]["problems"][0]["message"]
    assert [problem["code"] for problem in found[2]["problems"]] == ["PL-F001"]
    assert {("nothing", "", "refused"), ("plain", "", "refused")} < set(listed(terminal))


def test_decision14_a_wheel_is_installed_by_what_it_announces_and_nothing_of_it_is_run(
    terminal: Terminal, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    distribution(folder, ENTRY)
    renew(terminal, folder)
    (folder / "metadata.yaml").write_text("name: of something else\n")
    file = wheel(terminal, folder)
    assert run(terminal, "plugins", "check", file).strip() == "1 package: good"
    assert asked(terminal, "plugins", "install", file)["package"]["name"] == "ntp"
    shown = asked(terminal, "plugins", "show", "ntp")
    assert shown["file_count"] == 3, "of the distribution only the package"
    (folder / "acme_ntp-1.0.dist-info/entry_points.txt").write_text(f"{ENTRY}other = acme_ntp.other\n")
    shutil.copytree(folder / "acme_ntp/package", folder / "acme_ntp/other")
    assert refused(terminal, "plugins", "install", wheel(terminal, folder)) == ["PL-F060"]
