"""Packages of a deployment come back with its document, in their version and with their settings."""

import json

import pytest
from tests.cli.terminal import Terminal
from tests.cli.test_packages import BLUEPRINT, package, run

SECRETIVE = """\
attributes:
  server: {type: text, label: Server, weight: 1, value: here}
  key: {type: password, label: Key, weight: 2, value: ''}
"""


@pytest.fixture
def left(terminal: Terminal) -> Terminal:
    """A terminal with the document of a deployment that had a package which is not hot-pluggable."""
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    run(terminal, "plugins", "install", package(terminal.folder, environment_config=SECRETIVE))
    run(terminal, "deployments", "create", "blueprint.yaml", "-d", "shop")
    run(terminal, "deployments", "plugins", "enable", "shop", "ntp", "--set", "server=there", "--set", "key=hush-hush")
    run(terminal, "executions", "start", "install", "-d", "shop")
    run(terminal, "abandon", "-d", "shop", "-o", "left.json")
    return terminal


def enabled(terminal: Terminal) -> list[tuple[str, str, str]]:
    found = terminal.ask("deployments", "plugins", "list", "shop")[1]
    return [(one["package"], one["version"], one["settings"]["server"]) for one in found if one["state"] == "enabled"]


def test_h44_packages_are_enabled_again_with_their_settings(left: Terminal) -> None:
    text = (left.folder / "left.json").read_text()
    (written,) = json.loads(text)["phaseline"]["packages"]
    assert (written["name"], written["version"], written["enabled"]) == ("ntp", "1.0.1", True)
    assert written["settings"]["server"] == "there"
    assert "hush-hush" not in text
    adopted = left.run("adopt", "left.json")
    assert (adopted.exit_code, "warning" in adopted.stderr) == (0, False)
    assert enabled(left) == [("ntp", "1.0.1", "there")]
    again = json.loads(run(left, "export", "-d", "shop"))["phaseline"]["packages"]
    assert again[0]["settings"].keys() == written["settings"].keys()


def test_h44_with_another_blueprint_too(left: Terminal) -> None:
    assert left.run("adopt", "left.json", "--blueprint", "blueprint.yaml").exit_code == 0
    assert enabled(left) == [("ntp", "1.0.1", "there")]


def test_h44_what_is_not_installed_any_more_is_a_warning_and_no_other_version_is_taken(left: Terminal) -> None:
    run(left, "plugins", "remove", "ntp==1.0.1")
    run(left, "plugins", "install", package(left.folder, version="1.0.2"))
    adopted = left.run("adopt", "left.json")
    assert adopted.exit_code == 0
    assert "warning PL-F062 the document names the package ntp==1.0.1, which is not installed here" in adopted.stderr
    assert enabled(left) == []


def test_h44_settings_that_another_store_has_sealed_are_a_warning(left: Terminal) -> None:
    store = left.environment["PHASELINE_STORE_URL"]
    left.environment["PHASELINE_STORE_URL"] = store.replace("store.db", "other.db")
    run(left, "plugins", "install", left.folder / "ntp-src")
    adopted = left.run("adopt", "left.json")
    assert adopted.exit_code == 0
    assert "warning PL-C086 the secrets in the settings of ntp==1.0.1" in adopted.stderr
    assert enabled(left) == []


@pytest.mark.parametrize("damage", [3, [3], [{"name": "ntp"}]])
def test_h45_what_cannot_be_read_of_them_is_refused(left: Terminal, damage: object) -> None:
    document = json.loads((left.folder / "left.json").read_text())
    document["phaseline"]["packages"] = damage
    (left.folder / "left.json").write_text(json.dumps(document))
    adopted = left.run("adopt", "left.json")
    assert (adopted.exit_code, "PL-C081" in adopted.stderr) == (1, True)
