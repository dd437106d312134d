"""``phaseline filters`` and the lists that use them."""

from pathlib import Path

from tests.cli.terminal import BLUEPRINT, Terminal


def test_lb3_a_filter_is_saved_shown_used_and_deleted(tmp_path: Path) -> None:
    terminal = Terminal.in_folder(tmp_path)
    terminal.run("deployments", "create", terminal.write(BLUEPRINT), "-d", "shop", "--label", "Env=prod")
    made = terminal.run("filters", "create", "prod", "--rule", "env=[prod,live]", "--rule", "site_name=x")
    assert "deployments list --filter @prod" in made.output
    code, found = terminal.ask("filters", "list", "--for", "deployments")
    assert (code, found["total"], found["filters"][0]["rules"]) == (0, 1, ["env=[prod,live]", "site_name=x"])
    assert terminal.ask("deployments", "list", "--filter", "@prod")[1]["total"] == 0
    assert terminal.ask("deployments", "list", "--rule", "env=prod", "--filter", 'name == "SHOP"')[1]["total"] == 1
    assert terminal.ask("executions", "list", "--rule", "env=prod")[1]["total"] == 0
    assert terminal.run("filters", "delete", "prod").output == "The filter 'prod' is deleted.\n"
    assert "No filters yet" in terminal.run("filters", "list").output


def test_lb3_a_wrong_rule_is_told_with_code_1(tmp_path: Path) -> None:
    terminal = Terminal.in_folder(tmp_path)
    code, found = terminal.ask("filters", "create", "prod", "--rule", "env=", "--rule", "foo contains x")
    assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-C150", "PL-C151"])
    assert terminal.run("filters", "create", "prod", "--for", "groups").exit_code == 2
