"""``phaseline environments``, trees and drift as text."""

from pathlib import Path

from tests.cli.terminal import BLUEPRINT, Terminal


def test_lb7_environments_and_what_belongs_to_them(tmp_path: Path) -> None:
    terminal = Terminal.in_folder(tmp_path)
    terminal.make_store()
    assert "csys-obj-type=environment" in terminal.run("environments", "list").output
    file = terminal.write(BLUEPRINT)
    terminal.run("deployments", "create", file, "-d", "world", "--label", "csys-obj-type=environment")
    assert terminal.run("deployments", "create", file, "-d", "shop", "--environment", "world").exit_code == 0
    code, found = terminal.ask("environments", "list")
    assert (code, found["total"], found["environments"][0]["sub_services_count"]) == (0, 1, 1)
    for words in (("deployments", "tree", "world"), ("deployments", "list", "--tree")):
        lines = terminal.run(*words).output.splitlines()
        assert [line.split()[0] for line in lines] == ["NAME", "world", "shop"]
        assert lines[2].startswith("  shop")
    assert terminal.ask("deployments", "tree", "world")[1]["total"] == 2
    code, found = terminal.ask("deployments", "drift", "--filter", 'labels["csys-obj-parent"] == "world"')
    assert (code, [one["deployment"] for one in found["deployments"]]) == (0, ["shop"])
    assert "UNCHECKED" in terminal.run("deployments", "drift", "shop").output
