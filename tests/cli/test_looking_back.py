"""Looking back: timelines, histories of deployments, and lists with filters."""

import json

import pytest
from tests.cli.terminal import Terminal


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """An install that failed and was retried, an uninstall, and an install of something else."""
    folder = tmp_path_factory.mktemp("looking-back")
    found = Terminal(
        folder,
        {
            "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
            "PHASELINE_PLUGINS_PATH": "",
            "XDG_CONFIG_HOME": str(folder / "config"),
        },
    )
    blueprint = found.write()
    found.trouble("top")
    found.run("install", blueprint, "-d", "shop")
    found.trouble("")
    found.run("executions", "retry", "-d", "shop")
    found.run("uninstall", "-d", "shop")
    found.run("install", blueprint, "-d", "other")
    return found


def test_a_timeline_tells_phases_and_what_decided(terminal: Terminal) -> None:
    found = terminal.ask("executions", "timeline", "install-1")[1]
    (one,) = found["rounds"]
    (create,) = one["phases"]
    assert (create["entries"], create["calls"]) == (3, 3)
    assert [call["phase"].rpartition(".")[2] for call in one["critical_path"]] == ["create", "create"]
    assert [call["instance"].partition("_")[0] for call in one["critical_path"]] == ["base", "top"]
    text = terminal.run("executions", "timeline", "install-1").stdout
    assert "lifecycle.create" in text
    assert "decided by 2 calls one after the other" in text


def test_the_history_of_a_deployment_names_runs_people_and_decisions(terminal: Terminal) -> None:
    found = terminal.ask("deployments", "history", "shop")[1]
    assert [one["what"] for one in found["happenings"]] == [
        "created",
        "install asked for",
        "retry",
        "install completed",
        "uninstall asked for",
        "uninstall completed",
    ]
    assert "from" in terminal.run("deployments", "history", "shop").stdout
    assert terminal.ask("deployments", "history", "shop", "--limit", "1")[1]["total"] == 6


def test_lists_of_executions_are_filtered(terminal: Terminal) -> None:
    for words, expected in (
        (["--workflow", "install"], ["install-3", "install-1"]),
        (["--by", "no-such-user"], []),
        (["--since", "1h", "--text", "UNIN"], ["uninstall-2"]),
        (["--status", "completed", "-d", "other"], ["install-3"]),
    ):
        found = terminal.ask("executions", "list", *words)[1]
        assert [one["id"] for one in found["executions"]] == expected, words


def test_lists_of_deployments_are_filtered(terminal: Terminal) -> None:
    for words, expected in ((["--status", "not_installed"], ["shop"]), (["--text", "OTH"], ["other"])):
        found = terminal.ask("deployments", "list", *words)[1]
        assert [one["name"] for one in found["deployments"]] == expected, words


def test_events_and_logs_are_filtered_by_node_phase_level_and_text(terminal: Terminal) -> None:
    def events(*words: str) -> list[dict[str, str]]:
        return list(terminal.ask("executions", "events", "install-1", *words)[1]["events"])

    assert {one["instance"].partition("_")[0] for one in events("--node", "base")} == {"base"}
    assert {one["operation"].rpartition(".")[2] for one in events("--phase", "create")} == {"create"}
    assert {one["level"] for one in events("--level", "workflow_succeeded")} == {"workflow_succeeded"}
    assert all("trouble" in one["text"] for one in events("--text", "TROUBLE"))
    assert events("--text", "TROUBLE")
    logs = terminal.ask("executions", "logs", "install-1", "--level", "info", "--node", "base")[1]["lines"]
    assert [one["text"] for one in logs] == ["hello from base"]
    assert not terminal.ask("executions", "logs", "install-1", "--level", "error", "--text", "hello from")[1]["lines"]
    assert "PL-C012" in terminal.run("executions", "events", "install-1", "--node", "bsae").stderr


def test_events_of_what_is_over_are_followed_as_they_are_printed(terminal: Terminal) -> None:
    for more in ([], ["--node", "base"], ["--text", "trouble"], ["--limit", "3"], ["--all"]):
        printed = terminal.run("executions", "events", "install-1", *more)
        followed = terminal.run("executions", "events", "install-1", "-f", *more)
        assert (followed.exit_code, followed.stdout) == (0, printed.stdout)
    told = terminal.run("executions", "events", "install-1", "-f", "--json").stdout.splitlines()
    assert [json.loads(line) for line in told] == terminal.ask("executions", "events", "install-1")[1]["events"]
    assert "PL-C012" in terminal.run("executions", "events", "install-1", "-f", "--node", "bsae").stderr


def test_a_document_of_events_is_the_same_however_it_is_made(terminal: Terminal) -> None:
    last = terminal.run("executions", "events", "install-1", "--json").stdout
    assert terminal.run("executions", "events", "install-1", "--all", "--json").stdout == last
    assert last == json.dumps(json.loads(last), indent=2, ensure_ascii=False) + "\n"
    empty = terminal.run("executions", "events", "install-1", "--text", "never said", "--json").stdout
    assert empty == json.dumps({"execution": "install-1", "events": [], "total": 0}, indent=2) + "\n"
    assert terminal.run("executions", "events", "install-1", "--text", "never said").stdout == "No events.\n"


def test_a_limit_of_0_is_for_those_who_follow(terminal: Terminal) -> None:
    for noun in ("events", "logs"):
        refused = terminal.run("executions", noun, "install-1", "--limit", "0")
        assert refused.exit_code == 2
        assert "--follow" in refused.stderr
        assert terminal.run("executions", noun, "install-1", "-f", "--limit", "0").stdout == ""


def test_a_deployment_without_an_open_execution_is_watched_once(terminal: Terminal) -> None:
    watched = terminal.run("status", "shop", "--watch")
    assert watched.exit_code == 0
    assert len(watched.stdout.split("no execution")) == 2
