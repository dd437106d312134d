"""Source document 4 and the formats of packages: what is refused, and how it is said (F12-F26, F49-F52)."""

from pathlib import Path

import pytest
from tests.packages.made import GRANULAR, TASK, codes, files, messages, metadata, package, problems

from phaseline.model.packages.package import EVERYBODY, Roles
from phaseline.packages.format import stage_ranges as ranges
from phaseline.packages.reader import read_package
from phaseline.packages.task_order import ordered

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = "use pre_deployment or post_deployment, optionally followed by / and a number, e.g. post_deployment/100, pre_deployment/-99.9"
REFUSED = [
    *("pre_deployment/5.", "pre_deployment/", "pre_deployment/1e3", "pre_deployment/1_0", "pre_deployment/nan"),
    *("pre_deployment/5/7", "pre_deployment/ 5", "pre_deployment//5", "pre_deployment/--5", "pre_deployment:5"),
    *("deploy/5", "Pre_deployment/5", "pre_deployment/٥", "hw_configuration"),
]
SETTING = "attributes:\n  a:\n    type: text\n    label: L\n    weight: 1\n    value: ''\n"


def with_stage(stage: str) -> str:
    return TASK.replace("post_deployment", stage)


@pytest.mark.parametrize("number", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("stage", REFUSED)
def test_f12_a_malformed_stage_is_refused_with_file_item_value_and_what_is_allowed(stage: str, number: int) -> None:
    read = read_package(files(number, tasks=with_stage(f"'{stage}'")))
    assert read.package is None
    (problem,) = read.problems
    assert problem.code == "PL-F010"
    assert problem.message == f"lma-1.0.2: tasks.yaml task 1 (line 2), stage: {stage!r} is not valid"
    assert problem.mend.startswith(ALLOWED)
    assert problem.place.file == "tasks.yaml"
    assert problem.place.line == 2
    assert problem.details == {"index": 0, "field": "stage", "value": stage}


@pytest.mark.parametrize(
    "stage", ["/100", "/-99.9", "/+5", "/.5", "/-0", "/00100", "", "/0.10", "/9007199254740993", "/100.0"]
)
@pytest.mark.parametrize("name", ["pre_deployment", "post_deployment"])
def test_f12_every_form_that_the_source_names_is_taken(name: str, stage: str) -> None:
    (task,) = package(2, tasks=with_stage(f"{name}{stage}")).stage_tasks
    assert (task.stage, task.written) == (name, f"{name}{stage}")


@pytest.mark.parametrize("stage", ["post_deployment:100", "post_deployment:: 100", "post_deployment: :100"])
def test_f13_a_colon_gets_the_hint_to_use_a_slash(stage: str) -> None:
    (said,) = messages(2, tasks=with_stage(stage))
    assert f"stage: '{stage}' is not valid;" in said
    assert said.endswith("\n  use '/' as the separator: post_deployment/100")


def test_f14_numbers_need_a_later_format() -> None:
    (said,) = messages(1, tasks=with_stage("post_deployment/100"))
    assert said.endswith(
        "use pre_deployment or post_deployment\n  numbers behind a stage need package_version 2.0.0 or higher"
    )
    assert package(1).stage_tasks[0].number == 0


def test_f15_a_number_alone_is_no_stage() -> None:
    (said,) = messages(2, tasks=with_stage("100"))
    assert "stage: 100 is not valid;" in said
    assert "a number alone names no stage: post_deployment/100?" in said


def test_f16_a_line_break_behind_the_stage_is_refused() -> None:
    (said,) = messages(2, tasks=with_stage('"post_deployment/5\\n"'))
    assert r"'post_deployment/5\n' is not valid" in said
    assert said.endswith("remove the white space")


def test_f17_mistakes_in_three_files_are_all_told() -> None:
    found = problems(
        5,
        tasks=with_stage("post_deployment/x"),
        deployment_tasks=GRANULAR.replace("shell", "foo"),
        environment_config=SETTING.replace("weight: 1", "weight: '1'"),
    )
    assert {problem.place.file for problem in found} == {
        "tasks.yaml",
        "deployment_tasks.yaml",
        "environment_config.yaml",
    }
    assert len(found) == 3


F18 = {
    "name": (5, ("name: lma", "name: Plugin One"), "name: 'Plugin One' is not valid; use small letters a-z"),
    "homepage": (2, ("homepage: https://example.org\n", ""), "homepage: the key is missing"),
    "group": (2, ("[monitoring]", "[compute]"), "'compute' is not known here; use network, storage"),
    "equipment": (2, ("[monitoring]", "[equipment]"), "equipment needs package_version 4.0.0 or higher"),
    "hotpluggable": (4, ("is_hotpluggable: true\n", ""), "is_hotpluggable: the key is missing"),
    "fuel": (
        2,
        ("'6.1'", "'6.0'"),
        "'6.0' is older than what package_version 2.0.0 is for; Fuel must be 6.1 or higher",
    ),
    "version": (
        2,
        ("version: 1.0.2", "version: latest"),
        "version: 'latest' is not valid; use three numbers with dots",
    ),
    "package_version": (2, ("package_version: 2.0.0", "package_version: 9.9.9"), "'9.9.9' is not supported; use 1.0.0"),
    "os": (2, ("os: ubuntu", "os: debian"), "'debian' is not known here; use ubuntu or centos"),
    "folder": (2, ("deployment_scripts/", "scripts/"), "'scripts/' is no folder of the package; make the folder"),
    "repository": (2, ("repositories/ubuntu", "../x"), "'../x' is no folder of the package"),
    "no folder": (
        5,
        ("  repository_path: repositories/ubuntu\n", ""),
        "releases -> item 1 -> repository_path: the key is missing",
    ),
    "title": (1, ("title: LMA", "title: 5"), 'title: 5 is no text; write it in quotes: "5"'),
    "licence": (3, ("licenses: [Apache-2.0]", "licenses: Apache-2.0"), "is no list; write a list: [Apache-2.0]"),
    "groups twice": (4, ("[monitoring]", "[monitoring, monitoring]"), "groups -> item 2: 'monitoring' is there twice"),
}


@pytest.mark.parametrize("number_change_said", F18.values(), ids=F18)
def test_f18_each_mistake_of_metadata_has_its_message(number_change_said: tuple[int, tuple[str, str], str]) -> None:
    number, (old, new), expected = number_change_said
    (said,) = messages(number, metadata=metadata(number).replace(old, new))
    assert expected in said


def test_f18_equipment_is_a_group_from_format_4_on() -> None:
    assert package(4, metadata=metadata(4).replace("monitoring", "equipment")).groups == ("equipment",)


@pytest.mark.parametrize(
    ("role", "roles"),
    [("'*'", EVERYBODY), ("master", Roles(scope="master")), ("[web, db]", Roles(("web", "db")))],
)
def test_f19_star_master_and_lists_are_roles(role: str, roles: Roles) -> None:
    assert package(2, tasks=TASK.replace("['web']", role)).stage_tasks[0].roles == roles


def test_f19_a_role_alone_is_refused() -> None:
    (said,) = messages(2, tasks=TASK.replace("['web']", "controller"))
    assert "role: 'controller' is not valid: a single role must be in a list;" in said
    assert "[controller]" in said


def test_f19_lists_that_match_nobody_in_the_ancestor_are_taken_with_a_warning() -> None:
    star, empty = TASK.replace("['web']", "['*']"), TASK.replace("['web']", "[]")
    assert codes(2, tasks=star) == ["PL-F052"]
    assert package(2, tasks=star).stage_tasks[0].roles == EVERYBODY
    assert codes(2, tasks=empty) == ["PL-F053"]
    assert package(2, tasks=empty).stage_tasks[0].roles == Roles()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("{cmd: x, timeout: -1}", "timeout: -1 is too small"),
        ("{cmd: x, timeout: '42'}", "timeout: '42' is no whole number"),
        ("{cmd: x, timeout: true}", "timeout: true is no whole number"),
        ("{cmd: x}", "timeout: the key is missing"),
        ("{timeout: 5}", "cmd: the key is missing"),
        ("{cmd: '', timeout: 5}", "cmd: '' is empty"),
        ("{cmd: x, timeout: 5, retries: -1}", "retries: -1 is too small"),
    ],
)
def test_f20_parameters_are_checked_in_every_format(number: int, parameters: str, expected: str) -> None:
    (said,) = messages(number, tasks=TASK.replace("{cmd: ./a.sh, timeout: 60}", parameters))
    assert expected in said


def test_f20_a_timeout_of_0_is_a_warning() -> None:
    found = package(2, tasks=TASK.replace("60", "0"))
    assert found.stage_tasks[0].parameters["timeout"] == 0
    assert codes(2, tasks=TASK.replace("60", "0")) == ["PL-F054"]


def test_f20_puppet_needs_its_modules() -> None:
    tasks = TASK.replace("shell", "puppet").replace("cmd: ./a.sh", "puppet_manifest: a.pp")
    (said,) = messages(3, tasks=tasks)
    assert "parameters -> puppet_modules: the key is missing" in said


def test_f20_sync_is_no_task_of_a_stage() -> None:
    tasks = TASK.replace("shell", "sync").replace("cmd: ./a.sh", "src: a, dst: b")
    (said,) = messages(5, tasks=tasks)
    assert "type: 'sync' is no type of a task here; use puppet, shell or reboot;" in said
    assert package(10, tasks=tasks).stage_tasks[0].type == "sync"


def test_f21_reboot_came_with_format_2() -> None:
    tasks = TASK.replace("shell", "reboot").replace("cmd: ./a.sh, ", "")
    (said,) = messages(1, tasks=tasks)
    assert "reboot needs package_version 2.0.0 or higher" in said
    assert package(2, tasks=tasks).stage_tasks[0].type == "reboot"


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 10])
def test_f22_an_empty_or_missing_file_of_tasks(number: int) -> None:
    may_be_empty, may_miss = number >= 4, number >= 3
    assert codes(number, tasks="") == ([] if may_be_empty else ["PL-F002"])
    assert codes(number, tasks="# nothing\n") == ([] if may_be_empty else ["PL-F002"])
    assert codes(number, tasks=None) == ([] if may_miss else ["PL-F001"])
    assert codes(number, tasks="[]") == []


def test_f22_the_sentence_says_that_the_file_is_empty() -> None:
    assert problems(3, tasks="")[0].message == "lma-1.0.2: tasks.yaml is empty"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    label: L\n", "", "attributes -> a -> label: the key is missing"),
        (
            "value: ''",
            "value: 5",
            "attributes -> a -> value: 5 is neither text, true or false nor a list; write it in quotes",
        ),
        ("weight: 1", "weight: '1'", "attributes -> a -> weight: '1' is no whole number"),
        ("value: ''", "value: ''\n    restrictions:\n    - {b: x, c: y}", "attributes -> a -> restrictions -> item 1"),
    ],
)
def test_f23_mistakes_of_settings_are_told_with_their_path(old: str, new: str, expected: str) -> None:
    (said,) = messages(5, environment_config=SETTING.replace(old, new))
    assert expected in said


def test_f23_a_restriction_has_three_forms() -> None:
    text = SETTING + (
        "    restrictions:\n    - settings:a.b == 1\n"
        "    - {condition: 'settings:a.b == 2', message: m, action: hide}\n    - settings:a.b == 3: never\n"
    )
    (setting,) = package(5, environment_config=text).form.settings
    assert [(each.condition[-1], each.message, each.action) for each in setting.restrictions] == [
        ("1", "", "disable"),
        ("2", "m", "hide"),
        ("3", "never", "disable"),
    ]


F24 = {
    "no id": (("id: a\n  type", "type"), "id: the key is missing"),
    "type": (("type: shell", "type: foo"), "'foo' is no type of a task here; use puppet, shell, group"),
    "version": (("2.0.0", "'2.0'"), "version: '2.0' is not valid; use three numbers"),
    "permissions": (
        (
            "shell\n  version: 2.0.0",
            "copy_files\n  version: 2.0.0",
            "{cmd: ./a.sh}",
            "{files: [{src: a, dst: b}], permissions: '644'}",
        ),
        "parameters -> permissions: '644' is not valid; use four digits",
    ),
    "strategy": (
        ("{cmd: ./a.sh}", "{cmd: x, strategy: {type: serial}}"),
        "'serial' is not known here; use parallel or one_by_one",
    ),
    "cross-depends": (
        ("  parameters", "  cross-depends: [{role: web}]\n  parameters"),
        "cross-depends -> item 1 -> name: the key is missing",
    ),
    "regex": (("['web']", "/(/"), "'/(/' is no regular expression: missing )"),
    "role": (("['web']", "a b"), "role: 'a b' is not valid; use letters"),
    "no cmd": (("cmd: ./a.sh", "timeout: 1"), "parameters -> cmd: the key is missing"),
    "no parameters": (
        ("  parameters: {cmd: ./a.sh}\n", ""),
        "parameters: the key is missing; a task of type shell must have it",
    ),
    "tolerance": (("  role", "  fault_tolerance: half\n  role"), "fault_tolerance: 'half' is no fault tolerance"),
    "yaql": (("  role", "  condition: {yaql_exp: '$.a'}\n  role"), "is written in YAQL"),
    "reexecute": (("  role", "  reexecute_on: [always]\n  role"), "'always' is not known here"),
    "amount": (("{cmd: ./a.sh}", "{cmd: x, strategy: {type: parallel, amount: 0}}"), "amount: 0 is too small"),
    "stage": (("  role", "  stage: deploy\n  role"), "stage: 'deploy' is not valid"),
}


@pytest.mark.parametrize("change_said", F24.values(), ids=F24)
def test_f24_mistakes_of_granular_tasks(change_said: tuple[tuple[str, ...], str]) -> None:
    changes, expected = change_said
    text = GRANULAR
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    (said,) = messages(5, deployment_tasks=text)
    assert expected in said


def test_f24_a_regular_expression_is_a_role() -> None:
    (task,) = package(4, deployment_tasks=GRANULAR.replace("['web']", "/(primary-)?controller/")).granular_tasks
    assert task.roles == Roles(patterns=("(primary-)?controller",))
    (said,) = messages(3, deployment_tasks=GRANULAR.replace("['web']", "/(primary-)?controller/"))
    assert "regular expressions need package_version 4.0.0" in said


def test_f25_an_id_twice_and_a_circle_are_refused_with_the_names_of_the_tasks() -> None:
    (said,) = messages(5, deployment_tasks=GRANULAR + GRANULAR)
    assert "task 2 (line 6), id: 'a' is the id of another task; rename one of them; task 1 has this id, too" in said
    circle = f"{GRANULAR}  requires: [b]\n{GRANULAR.replace('id: a', 'id: b')}  requires: [a]\n"
    (said,) = messages(5, deployment_tasks=circle)
    assert "tasks wait for one another in a circle: a -> b -> a" in said
    large = "".join(f"- {{id: t{n}, type: skipped, requires: [t{(n + 1) % 30}]}}\n" for n in range(30))
    assert "t0 -> t1 -> " in messages(5, deployment_tasks=large)[0]
    assert "t19 -> … -> t0;" in messages(5, deployment_tasks=large)[0]
    backwards = f"{GRANULAR}  requires: [b]\n  required_for: [b]\n{GRANULAR.replace('id: a', 'id: b')}"
    assert codes(5, deployment_tasks=backwards) == ["PL-F015"]


ROLE = "web-server:\n  name: Web\n  description: Serves\n"
VOLUMES = "volumes: [{id: v, type: vg}]\nvolumes_roles_mapping:\n  web: [{allocate_size: min, id: v}]\n"


def test_f26_the_other_files() -> None:
    (said,) = messages(5, node_roles=ROLE.replace("web-server", "web server"))
    assert "web server: 'web server' is not valid as a name" in said
    (said,) = messages(5, node_roles=ROLE.replace("  name: Web\n", ""))
    assert "web-server -> name: the key is missing" in said
    (said,) = messages(5, volumes=VOLUMES.replace("min", "half"))
    assert (
        "volumes_roles_mapping -> web -> item 1 -> allocate_size: 'half' is not known here; use all, min or full-disk"
        in said
    )
    (said,) = messages(5, components="- name: foo:x\n  label: L\n")
    assert "component 1 (line 1), name: 'foo:x' is not valid; use hypervisor:" in said
    assert codes(5, node_roles=ROLE, volumes=VOLUMES, components="- name: storage:x\n  label: L\n") == []


@pytest.mark.parametrize("stage", ["post_deployment:: 50", "post_deployment: :50"])
def test_f49_typos_that_are_no_yaml_get_our_hint_and_hide_nothing_else(stage: str) -> None:
    tasks = with_stage(stage) + TASK.replace("['web']", "web")
    colon, role = messages(2, tasks=tasks)
    assert f"task 1 (line 2), stage: '{stage}' is not valid;" in colon
    assert "use '/' as the separator: post_deployment/50" in colon
    assert "task 2 (line 5), role: 'web' is not valid" in role


def test_f50_the_page_about_ranges_is_made_of_the_table_of_the_linter() -> None:
    page = (ROOT / "docs/package-ranges.md").read_text("utf-8")
    assert page == ranges.as_page(), "write phaseline.packages.format.stage_ranges.as_page() into it"
    assert all(f"| {each.text} | {each.use or ranges.RESERVED} |" in page for each in ranges.RANGES)


def test_f50_new_packages_begin_with_the_ranges_as_comments() -> None:
    lines = ranges.as_comments().splitlines()
    assert all(line.startswith("# ") for line in lines)
    assert all(any(each.text in line and each.use in line for line in lines) for each in ranges.RANGES)


def test_f51_two_network_plugins_run_in_the_order_of_their_numbers_with_a_warning_for_each() -> None:
    network = metadata(2).replace("[monitoring]", "[network]")
    first = {"metadata": network.replace("name: lma", "name: zeta"), "tasks": with_stage("post_deployment/100")}
    second = {"metadata": network.replace("name: lma", "name: alpha"), "tasks": with_stage("post_deployment/2000")}
    assert [codes(2, **each) for each in (first, second)] == [["PL-F051"], ["PL-F051"]]
    assert [task.plugin for task in ordered([package(2, **second), package(2, **first)])] == ["zeta", "alpha"]


def test_f52_the_damaged_sample_of_the_source_shows_where_parameters_belongs() -> None:
    sample = (
        "- role: ['primary-controller', 'controller']\n  stage: post_deployment/100\n"
        "  type: shell\n    cmd: ./\n    timeout: 42\n"
    )
    (problem,) = problems(2, metadata=metadata(2).replace("[monitoring]", "[hypervisor]"), tasks=sample)
    assert problem.message == "lma-1.0.2: tasks.yaml task 1 (line 4), parameters: the key is missing"
    assert problem.mend.endswith("    type: …\n    parameters:\n      cmd: …\n      timeout: …")
    assert problem.place.text == "    cmd: ./"
    mended = sample.replace("    cmd", "  parameters:\n    cmd")
    assert package(2, tasks=mended).stage_tasks[0].parameters == {"cmd": "./", "timeout": 42}
