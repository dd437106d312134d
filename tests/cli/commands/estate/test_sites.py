"""``phaseline sites``."""

from pathlib import Path

from tests.cli.terminal import BLUEPRINT, Terminal


def test_lb5_a_site_is_made_used_moved_and_deleted(tmp_path: Path) -> None:
    terminal = Terminal.in_folder(tmp_path)
    terminal.make_store()
    assert "No sites yet" in terminal.run("sites", "list").output
    assert terminal.ask("sites", "create", "munich", "--location", "48.1,11.5")[1]["location"] == "48.1,11.5"
    terminal.run("deployments", "create", terminal.write(BLUEPRINT), "-d", "shop", "--site", "munich")
    assert "munich" in terminal.run("deployments", "show", "shop").output
    assert terminal.ask("deployments", "list", "--site", "munich")[1]["deployments"][0]["name"] == "shop"
    assert "1,2" in terminal.run("sites", "update", "munich", "--location", "1,2").output
    assert "munich" in terminal.run("sites", "show", "munich").output
    assert terminal.run("sites", "delete", "munich").exit_code == 0
    assert terminal.ask("sites", "create", "x", "--location", "91,0")[1]["problems"][0]["code"] == "PL-C157"
