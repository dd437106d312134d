"""``resources apply|list|show|why|history``: resources put into a store, moved by an engine, looked at."""

import json

import pytest
from tests.cli.clusters import applied, moved, plugins, record, shown, worked
from tests.cli.terminal import Terminal

from phaseline.app.settings import load_settings
from phaseline.embedded.open_app import open_context
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.use_cases.commands.maintenance import purge_all


@pytest.fixture(autouse=True)
def _phases(terminal: Terminal) -> None:
    plugins(terminal)


def test_records_are_stored_and_begin_to_move_when_an_engine_runs(terminal: Terminal) -> None:
    (terminal.folder / "nodes.rec").write_text("\n".join([record("n1"), record("n2", target="", Size=3)]))
    code, found = terminal.ask("resources", "apply", "nodes.rec", "-d", "night")
    assert (code, found["clusters"], found["is_running"]) == (0, ["night"], False)
    assert [(one["name"], one["action"], one["target"]) for one in found["resources"]] == [
        ("n1", "created", "Started"),
        ("n2", "created", ""),
    ]
    _, before = terminal.ask("resources", "list")
    assert [(one["state"], one["target"], one["status"]) for one in before["resources"]] == [
        ("", "Started", "Off"),
        ("", "", "Off"),
    ]
    worked(terminal)
    _, after = terminal.ask("resources", "list")
    assert [(one["name"], one["state"], one["status"]) for one in after["resources"]] == [
        ("n1", "Started", "Ready"),
        ("n2", "", "Off"),
    ]
    assert after["states"] == {"Started": 1, "": 1}


def test_p33_p45_the_record_has_what_phases_keep_also_of_states_it_has_left(terminal: Terminal) -> None:
    moved(terminal, record("n1", WantsFile=True))
    found = shown(terminal, "n1")
    phase_map = found["record"]["PhaseMap"]  # type: ignore[index]  # a record in JSON
    assert phase_map["Acme.Create"]["Status"] == "Completed"
    assert phase_map["Acme.Create"]["OperationId"] == "op-n1"
    assert phase_map["Acme.Create"]["State"] == "Allocation"
    assert phase_map["Example.CreateFile"]["Status"] == "Completed"
    text = terminal.run("resources", "show", "n1").stdout
    assert "InstanceId" in text
    assert "'Acme.Create' = [" in text
    assert text.startswith("# n1 of night: Ready (Started, target Started)\n")


def test_what_is_shown_can_be_read_back(terminal: Terminal) -> None:
    moved(terminal, record("n1", WantsFile=True), record("n2", Trouble="no quota"))
    for name in ("n1", "n2"):
        (terminal.folder / "shown.rec").write_text(terminal.run("resources", "show", name).stdout)
        result = terminal.run("records", "format", "shown.rec")
        assert result.exit_code == 0
        assert f'Name = "{name}"' in result.stdout


def test_p53_a_phase_whose_constraint_is_false_has_no_entry(terminal: Terminal) -> None:
    moved(terminal, record("n1", WantsFile=False))
    assert list(shown(terminal, "n1")["record"]["PhaseMap"]) == ["Acme.Create"]  # type: ignore[index]  # as above


def test_p24_a_failure_is_shown_with_its_message(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="quota"))
    found = shown(terminal, "n1")
    assert (found["status"], found["state"], found["is_failed"]) == ("Failed", "Allocation", True)
    record_ = found["record"]
    assert isinstance(record_, dict)
    assert record_["PhaseFailed"] is True
    assert record_["PhaseMap"]["Acme.Create"]["Message"] == "quota"


def test_a_filter_is_an_expression_over_the_record(terminal: Terminal) -> None:
    moved(terminal, record("n1", Cores=2), record("n2", Cores=8, Trouble="x"), record("n3", Cores=16))
    for expression, names in (
        ("Cores > 4", ["n2", "n3"]),
        ("PhaseFailed", ["n2"]),
        ('State == "Started" && Cores > 4', ["n3"]),
        ("PhaseMap.'Acme.Create'.Status == \"Failed\"", ["n2"]),
        ("Nothing isnt undefined", []),
    ):
        _, found = terminal.ask("resources", "list", "--filter", expression)
        assert [one["name"] for one in found["resources"]] == names, expression
    code, wrong = terminal.ask("resources", "list", "--filter", "Cores +")
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-R005")
    code, wrong = terminal.ask("resources", "list", "--filter", 'Name + "x"')
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-C034")


def test_p111_identical_failures_are_one_group(terminal: Terminal) -> None:
    quota = [record(f"n{at}", Trouble=f"no quota for n{at}: {at + 10} of 10") for at in range(12)]
    moved(terminal, *quota, record("odd", Trouble="no such image"))
    _, found = terminal.ask("resources", "list", "--limit", "3")
    assert found["there_are"] == 13
    assert (len(found["resources"]), found["total"]) == (3, 13)
    groups = [(group["phase"], group["count"], group["message"]) for group in found["failures"]]
    assert groups == [("Acme.Create", 12, "no quota for n0: 10 of 10"), ("Acme.Create", 1, "no such image")]
    key = found["failures"][0]["key"]
    _, inside = terminal.ask("resources", "list", "--group", key)
    assert inside["total"] == 12
    text = terminal.run("resources", "list").stdout
    assert "12 × Acme.Create: no quota for n0: 10 of 10" in text
    assert f"phaseline resources retry --group {key}" in text
    code, wrong = terminal.ask("resources", "list", "--group", "0badc0de")
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-C042")


def test_the_history_tells_states_calls_and_failures(terminal: Terminal) -> None:
    moved(terminal, record("n1", Trouble="quota"), record("n2"))
    _, found = terminal.ask("resources", "history", "n1")
    told = [(event["state"], event["phase"], event["what"], event["message"]) for event in found["events"]]
    assert told == [
        ("", "", "target Started", "reach-1"),
        ("Validation", "", "entered Validation", ""),
        ("Allocation", "", "entered Allocation", ""),
        ("Allocation", "Acme.Create", "Running", ""),
        ("Allocation", "Acme.Create", "Failed", "quota"),
    ]
    assert found["events"][3]["batch_size"] == 2
    _, part = terminal.ask("resources", "history", "n2", "--phase", "acme.create", "--limit", "1")
    assert [event["what"] for event in part["events"]] == ["Completed"]
    assert part["total"] == 2
    assert "Failed: quota" in terminal.run("resources", "history", "n1").stdout


def test_what_failed_alike_is_told_whole_and_steers_no_terminal(terminal: Terminal) -> None:
    (terminal.folder / "phases" / "create.py").write_text(
        "def handle(handler):\n    handler.setFailed(handler.getResources(), '\\x1b[31mno room in ' + 'a' * 100 + ' today')\n"
    )
    moved(terminal, record("n1"))
    (line,) = [one for one in terminal.run("resources", "list").stdout.splitlines() if one.startswith("failed")]
    assert line == f"failed  1 × Acme.Create: \\x1b[31mno room in {'a' * 100} today"


def test_a_definition_that_cannot_be_read_is_told_when_resources_would_pass_it(terminal: Terminal) -> None:
    definition = terminal.folder / "phases" / "create.cfg"
    definition.write_text(definition.read_text().replace("HandlesStates =", "HandlesStates"))
    (terminal.folder / "nodes.rec").write_text(record("n1"))
    code, found = terminal.ask("resources", "apply", "nodes.rec", "-d", "night")
    [warning] = found["warnings"]
    assert code == 0
    assert str(definition) in warning
    assert "PL-R010" in warning
    assert "phaseline plugins check" in warning


def test_the_definition_of_a_plugin_is_no_file_of_resources(terminal: Terminal) -> None:
    code, found = terminal.ask("resources", "apply", "phases/create.cfg", "-d", "night")
    [problem] = found["problems"]
    assert (code, problem["code"]) == (1, "PL-R013")
    assert ".cfg" not in problem["mend"], "it does not ask for what it refuses"
    assert "plugins.path" in problem["mend"]


def test_why_tells_what_applies_and_what_does_not(terminal: Terminal) -> None:
    folder = terminal.folder / "phases"
    (folder / "aws.cfg").write_text(
        "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Aws.Tag\nHandlesProvider = aws\n"
    )
    (folder / "aws.py").write_text("def handle(handler): pass\n")
    (folder / "ip.cfg").write_text(
        "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Ip\nResourceConstraint := Size > 3\n"
    )
    (folder / "ip.py").write_text("def handle(handler): pass\n")
    moved(terminal, record("n1", Trouble="quota", Provider="acme", Size=2))
    _, found = terminal.ask("resources", "why", "n1")
    assert found["text"] == "in Allocation, failed on its way to Started"
    assert [(one["phase"], one["status"], one["text"]) for one in found["phases"]] == [
        ("Acme.Create", "Failed", "quota"),
        ("Aws.Tag", "does not apply", 'it is for Provider aws, the resource has "acme"'),
        ("Ip", "does not apply", "Size > 3 is false (Size = 2)"),
    ]
    assert found["phases"][0]["mend"] == "phaseline resources retry n1 --phase Acme.Create"
    assert "failed on its way to Started" in terminal.run("resources", "why", "n1").stdout


def test_everything_wrong_with_files_is_told_at_once_and_nothing_is_stored(terminal: Terminal) -> None:
    (terminal.folder / "bad.rec").write_text(
        'AdType = "Cloud.Nod"\nName = "n1"\n\n'
        'Name = "n2"\nState = "Started"\n\n'
        'AdType = "Cloud.Node"\nName = "n3"\nTargetState = "Ready"\n\n'
        'AdType = "Cloud.Node"\nName = ""\nClusterName = "1st"\n\n'
        'AdType = "Cloud.Node"\nName = "n5"\n  PhaseMap = [ A = [ Status = "Completed" ] ]\n'
    )
    (terminal.folder / "worse.rec").write_text('AdType = "Cloud.Node"\nName = \n')
    (terminal.folder / "twice.rec").write_text(record("n6") + "\n" + record("n6"))
    code, found = terminal.ask("resources", "apply", "bad.rec", "worse.rec", "twice.rec", "-d", "night")
    assert code == 1
    told = [(one["code"], one["file"], one["line"], one["column"]) for one in found["problems"]]
    assert told == [
        ("PL-R023", "bad.rec", 1, 1),
        ("PL-R020", "bad.rec", 4, 1),
        ("PL-R025", "bad.rec", 5, 1),
        ("PL-R024", "bad.rec", 9, 1),
        ("PL-R020", "bad.rec", 12, 1),
        ("PL-C021", "bad.rec", 13, 1),
        ("PL-R025", "bad.rec", 17, 3),
        ("PL-R001", "worse.rec", 2, 7),
        ("PL-R026", "twice.rec", 5, 1),
    ]
    assert all(one["mend"] for one in found["problems"])
    assert not terminal.has_store() or terminal.ask("resources", "list")[1]["total"] == 0


def test_records_in_json_do_as_well(terminal: Terminal) -> None:
    nodes = [{"AdType": "Cloud.Node", "Name": "n1", "ClusterName": "day", "Full": {"$expr": 'strcat(Name, "!")'}}]
    (terminal.folder / "nodes.json").write_text(json.dumps(nodes))
    assert terminal.run("resources", "apply", "nodes.json").exit_code == 0
    assert 'Full := strcat(Name, "!")' in terminal.run("resources", "show", "n1").stdout
    (terminal.folder / "bad.json").write_text(json.dumps([{"Name": "n2"}, {"AdType": "Cloud.Node"}]))
    _, found = terminal.ask("resources", "apply", "bad.json", "-d", "day")
    assert [one["code"] for one in found["problems"]] == ["PL-R020", "PL-R020"]


def test_a_record_without_a_cluster_is_told_how_to_name_one(terminal: Terminal) -> None:
    (terminal.folder / "nodes.rec").write_text(record("n1"))
    code, found = terminal.ask("resources", "apply", "nodes.rec")
    assert (code, [one["code"] for one in found["problems"]]) == (1, ["PL-R022"])


def test_names_are_unique_within_a_cluster_only(terminal: Terminal) -> None:
    applied(terminal, record("n1"))
    applied(terminal, record("n1"), cluster="day", name="day.rec")
    code, found = terminal.ask("resources", "show", "n1")
    assert (code, found["problems"][0]["code"]) == (1, "PL-C032")
    assert terminal.ask("resources", "show", "n1", "-d", "day")[1]["cluster"] == "day"
    code, found = terminal.ask("resources", "show", "n2", "-d", "day")
    assert (code, found["problems"][0]["code"]) == (1, "PL-C031")
    code, found = terminal.ask("resources", "list", "-d", "dya")
    assert (code, found["problems"][0]["mend"]) == (1, "correct the name; did you mean 'day'?")


def test_a_cluster_grows_and_what_is_the_same_stays(terminal: Terminal) -> None:
    applied(terminal, record("n1"))
    worked(terminal)
    (terminal.folder / "more.rec").write_text("\n".join([record("n1"), record("n2"), record("n3", target="")]))
    _, found = terminal.ask("resources", "apply", "more.rec", "-d", "night")
    assert [(one["name"], one["action"], one["target"]) for one in found["resources"]] == [
        ("n1", "unchanged", ""),
        ("n2", "created", "Started"),
        ("n3", "created", ""),
    ]
    worked(terminal)
    _, after = terminal.ask("resources", "list")
    assert [one["state"] for one in after["resources"]] == ["Started", "Started", ""]


def test_a_resource_cannot_change_its_type_and_a_deployment_is_no_cluster(terminal: Terminal) -> None:
    (terminal.folder / "phases" / "types.rec").write_text(
        'AdType = "ResourceType"\nName = "Web"\nParent = "Cloud.Node"\n'
    )
    applied(terminal, record("n1"))
    (terminal.folder / "web.rec").write_text(record("n1").replace("Cloud.Node", "Web"))
    code, found = terminal.ask("resources", "apply", "web.rec", "-d", "night")
    assert (code, found["problems"][0]["code"]) == (1, "PL-C037")
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(terminal.folder / "plugins")
    assert terminal.run("deployments", "create", terminal.write(), "-d", "shop").exit_code == 0
    code, found = terminal.ask("resources", "apply", "nodes.rec", "-d", "shop")
    assert (code, found["problems"][0]["code"]) == (1, "PL-C036")


def test_a_cluster_is_a_deployment_like_others_but_has_no_workflows(terminal: Terminal) -> None:
    moved(terminal, record("n1"), record("n2", Trouble="quota"))
    _, found = terminal.ask("deployments", "list")
    (view,) = found["deployments"]
    assert (view["name"], view["kind"], view["status"]) == ("night", "resources", "requires_attention")
    assert view["states"] == {"Allocation": 1, "Started": 1}
    _, instances = terminal.ask("instances", "list", "-d", "night")
    assert [one["state"] for one in instances["instances"]] == ["Started", "Allocation"]
    assert terminal.ask("instances", "show", "n2")[1]["state"] == "Allocation"
    assert "resources why n2" in terminal.run("instances", "why", "n2").stdout
    assert "cluster     of resources" in terminal.run("deployments", "show", "night").stdout
    for words in (("uninstall",), ("plan", "uninstall"), ("executions", "start", "install")):
        code, wrong = terminal.ask(*words, "-d", "night")
        assert (code, wrong["problems"][0]["code"]) == (1, "PL-C043"), words
    code, wrong = terminal.ask("deployments", "delete", "night")
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-C015")
    assert "resources delete --all -d night" in wrong["problems"][0]["mend"]


def test_what_is_stuck_and_what_happened_is_told_of_resources_too(terminal: Terminal) -> None:
    moved(terminal, record("n1", WantsFile=True), record("n2", Trouble="quota"))
    _, stuck = terminal.ask("instances", "stuck")
    assert [(one["kind"], one["operation"], one["message"]) for one in stuck["stuck"]] == [
        ("failed", "Acme.Create", "quota")
    ]
    _, status = terminal.ask("status")
    assert [need["text"] for need in status["needs"]] == ["reach-1 of 'night' failed"]
    told = terminal.run("executions", "events", "reach-1").stdout
    assert "2 resources entered Allocation" in told
    assert "run 1 ends: 1 completed, 1 failed" in told
    assert "1 resource entered Started" in told
    _, execution = terminal.ask("executions", "show", "reach-1")
    assert [(one["instance"], one["operation"]) for one in execution["failures"]] == [("n2", "Acme.Create")]


def test_the_store_of_a_cluster_is_sound(terminal: Terminal) -> None:
    moved(terminal, record("n1", WantsFile=True), record("n2", Trouble="quota"))
    assert terminal.run("store", "check").exit_code == 0


def test_a_way_without_any_phase_is_warned_of(terminal: Terminal) -> None:
    terminal.environment["PHASELINE_PLUGINS_PATH"] = ""
    (terminal.folder / "nodes.rec").write_text(record("n1") + "\n" + record("n2"))
    code, found = terminal.ask("resources", "apply", "nodes.rec", "-d", "night")
    assert (code, len(found["warnings"])) == (0, 1)
    assert "no phase is defined on the way of Cloud.Node to Started" in found["warnings"][0]


def test_a_blueprint_does_not_take_the_name_of_a_cluster(terminal: Terminal) -> None:
    applied(terminal, record("n1"))
    blueprint = terminal.write()
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(terminal.folder / "plugins")
    worked(terminal)
    code, wrong = terminal.ask("install", blueprint, "-d", "night")
    assert (code, wrong["problems"][0]["code"]) == (1, "PL-S010")
    assert "phaseline resources delete --all -d night" in wrong["problems"][0]["mend"]


def test_everything_purged_leaves_resources_as_they_are(terminal: Terminal) -> None:
    moved(terminal, record("n1"), record("n2", Trouble="x"))
    terminal.run("resources", "target", "Terminated", "n2")
    worked(terminal)
    with open_context(load_settings(environment=terminal.environment, folder=terminal.folder), "a test") as ctx:
        assert purge_all(ctx.store, PurgeRules(ctx.clock.now() + 1)).executions == 2
    _, found = terminal.ask("resources", "list")
    assert [(one["state"], one["target"]) for one in found["resources"]] == [
        ("Started", "Started"),
        ("Terminated", "Terminated"),
    ]
    record_ = shown(terminal, "n1")["record"]
    assert isinstance(record_, dict)
    assert (record_["InstanceId"], "PhaseMap" in record_) == ("i-n1", False)
    assert terminal.ask("resources", "history", "n1")[1]["events"] == []
    assert terminal.ask("resources", "target", "Terminated", "n1")[1]["changed"] == 1
    worked(terminal)
    assert shown(terminal, "n1")["state"] == "Terminated"


def test_records_of_plugins_and_files_without_records_are_told_as_that(terminal: Terminal) -> None:
    (terminal.folder / "types.rec").write_text('AdType = "ResourceType"\nName = "Web"\n')
    code, wrong = terminal.ask("resources", "apply", "types.rec", "-d", "night")
    assert (code, [one["code"] for one in wrong["problems"]]) == (1, ["PL-R023"])
    assert "folder of plugins" in wrong["problems"][0]["mend"]
    (terminal.folder / "empty.rec").write_text("# nothing yet\n")
    assert "no records" in terminal.run("resources", "apply", "empty.rec", "-d", "night").stdout
    code, wrong = terminal.ask("resources", "apply", "missing.rec", ".", "-d", "night")
    assert (code, [one["code"] for one in wrong["problems"]]) == (1, ["PL-R013", "PL-R013"])


def test_p111_failures_that_say_the_same_are_one_line_of_an_execution_too(terminal: Terminal) -> None:
    moved(terminal, *(record(f"n{at}", Trouble=f"no quota for n{at}") for at in range(7)), record("odd", Trouble="x"))
    told = terminal.run("executions", "show", "reach-1").stdout
    assert "failed  7 × Acme.Create\n      no quota for n0\n      n0, n1, n2, n3, n4 and 2 more\n" in told
    assert "failed  odd  Acme.Create\n      x\n" in told
    assert len(terminal.ask("executions", "show", "reach-1")[1]["failures"]) == 8


def test_p111_what_is_stuck_for_the_same_reason_is_told_as_one(terminal: Terminal) -> None:
    moved(terminal, *(record(f"n{at}", Trouble=f"no quota for n{at}") for at in range(7)))
    _, found = terminal.ask("instances", "stuck")
    assert [(one["count"], one["message"]) for one in found["stuck"]] == [(7, "no quota for n0")]


def test_a_filter_that_fits_nobody_says_so(terminal: Terminal) -> None:
    applied(terminal, record("n1"), record("n2"))
    assert terminal.run("resources", "list", "--filter", "PhaseFailed").stdout == "None of 2 resources matches.\n"


def test_an_engine_that_stops_tells_what_failed_meanwhile(terminal: Terminal) -> None:
    applied(terminal, record("n1", Trouble="x"))
    told = terminal.run("engine", "run", "--until-idle").stdout
    assert "reach-1 of 'night' failed: " in told
    assert "phaseline resources list -d night --filter PhaseFailed" in told
    assert "failed" not in terminal.run("engine", "run", "--until-idle").stdout


@pytest.mark.parametrize("name", ["../../x", "a\u202eb", "a\x7fb", "x" * 256])
def test_decision_33_a_name_that_may_do_harm_is_refused_with_its_place(terminal: Terminal, name: str) -> None:
    (terminal.folder / "bad.json").write_text(json.dumps([{"AdType": "Cloud.Node", "Name": name}]))
    code, found = terminal.ask("resources", "apply", "bad.json", "-d", "night")
    assert code == 1
    assert [(one["code"], one["file"]) for one in found["problems"]] == [("PL-R021", "bad.json")]
