"""Names and beginnings of names: enough to look, not enough to change."""

from __future__ import annotations

from tests.cli.terminal import BLUEPRINT, PLUGIN, Terminal


def shop_prod(terminal: Terminal) -> None:
    """One installed deployment whose name begins with another one's."""
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    (terminal.folder / "plugins").mkdir()
    (terminal.folder / "plugins" / "made.py").write_text(PLUGIN)
    assert terminal.run("install", "blueprint.yaml", "-d", "shop-prod").exit_code == 0


def test_what_changes_a_deployment_wants_its_whole_name(terminal: Terminal) -> None:
    shop_prod(terminal)
    for words in (("uninstall", "-d", "shop"), ("deployments", "delete", "shop", "--force")):
        refused = terminal.run(*words)
        assert refused.exit_code == 1
        assert "did you mean 'shop-prod'?" in refused.output
    assert terminal.run("deployments", "show", "shop").exit_code == 0


def test_what_changes_an_execution_wants_its_whole_id(terminal: Terminal) -> None:
    shop_prod(terminal)
    assert terminal.run("executions", "show", "inst").exit_code == 0
    for verb in ("cancel", "retry", "resume"):
        assert terminal.run("executions", verb, "inst").exit_code == 1


def test_installing_over_what_is_well_suggests_no_retry(terminal: Terminal) -> None:
    shop_prod(terminal)
    refused = terminal.run("install", "blueprint.yaml", "-d", "shop-prod")
    assert refused.exit_code == 1
    assert "executions retry" not in refused.output
    assert "phaseline uninstall -d shop-prod" in refused.output


def test_a_folder_of_plugins_that_is_not_there_is_refused_at_once(terminal: Terminal) -> None:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    refused = terminal.run("install", "blueprint.yaml", "--plugins", "nowhere", "--plugins", "blueprint.yaml")
    assert refused.exit_code == 1
    assert refused.output.count("PL-O003") == 2
