"""A package as it comes out of reading: every field of every file, trusted by all who get it."""

from decimal import Decimal
from time import process_time

import pytest
from tests.packages.made import GRANULAR, TASK, codes, files, messages, metadata, package

from phaseline.model.packages.package import (
    EVERYBODY,
    NATIVE,
    WORKFLOWS,
    Choice,
    CrossDependency,
    InstanceLimits,
    LimitOverride,
    PackageHookClass,
    RelatedComponents,
    Release,
    Restriction,
    Roles,
    Strategy,
)
from phaseline.packages.format.format_versions import FILES, FORMATS, is_read
from phaseline.packages.format.problem_report import MAX_FINDINGS, FileElement, Findings, PackageFile
from phaseline.packages.reader import CHECKS, read_package


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 10])
def test_a_package_of_each_format_is_read_without_a_word(number: int) -> None:
    found = package(number)
    assert (str(found), found.format) == ("lma-1.0.2", f"{number}.0.0")
    assert codes(number) == []
    assert len(found.stage_tasks) == (number <= 3)
    assert len(found.granular_tasks) == (3 <= number <= 5)


def test_metadata_are_kept() -> None:
    found = package(5, metadata=metadata(5, "build_version: '3'\nown: [1]\n"))
    assert (found.title, found.description, found.groups, found.authors) == ("LMA", "Alerts", ("monitoring",), ("me",))
    assert (found.licenses, found.homepage, found.build_version) == (("Apache-2.0",), "https://example.org", "3")
    assert found.is_hotpluggable
    assert found.fuel_versions == ("9.0",)
    assert found.releases == (Release("mitaka-9.0", "ubuntu", ("ha",), "deployment_scripts/", "repositories/ubuntu"),)
    document = found.documents["metadata.yaml"]
    assert isinstance(document, dict)
    assert document["own"] == [1]


def test_a_task_of_a_stage_is_kept_with_all_that_it_says() -> None:
    more = "  fail_on_error: false\n  condition: settings:a.b == 1\n  id: t\n  diagnostic_name: D\n  reexecute_on: [deploy_changes]\n"
    first, second = package(2, tasks=TASK + TASK.replace("post_deployment", "pre_deployment/-99.90") + more).stage_tasks
    assert (first.index, first.stage, first.number, first.plugin, first.version) == (
        0,
        "post_deployment",
        0,
        "lma",
        "1.0.2",
    )
    assert (first.fail_on_error, first.condition, first.id, first.on) == (True, "", "", WORKFLOWS)
    assert (second.index, second.stage, second.number) == (1, "pre_deployment", Decimal("-99.9"))
    assert (second.written, second.type) == ("pre_deployment/-99.90", "shell")
    assert second.parameters == {"cmd": "./a.sh", "timeout": 60}
    assert (second.fail_on_error, second.condition, second.id) == (False, "settings:a.b == 1", "t")
    assert (second.diagnostic_name, second.reexecute_on) == ("D", ("deploy_changes",))


def test_a_granular_task_is_kept_with_all_that_it_says() -> None:
    text = """
- id: a
  type: puppet
  version: 2.1.0
  roles: [primary-web, /db.*/]
  requires: [x]
  required_for: [y]
  cross-depends:
  - {name: b, role: self, policy: any}
  - {name: /c.*/, role: [web]}
  - {name: d, role: null}
  - {name: e}
  cross-depended-by: [{name: f, role: '*'}]
  condition: true
  reexecute_on: [deploy_changes]
  refresh_on: ['settings.a']
  fault_tolerance: 20%
  fail_on_error: false
  parameters: {puppet_manifest: m, puppet_modules: n, timeout: 3600, strategy: {type: parallel, amount: 2}}
- {id: deploy, type: group, role: [web], tasks: [a], fault_tolerance: -3, parameters: {strategy: {type: one_by_one}}}
- {id: gone, type: skipped, stage: post_deployment/8100}
"""
    task, group, gone = package(5, deployment_tasks=text).granular_tasks
    assert (task.id, task.type, task.task_version, task.index) == ("a", "puppet", (2, 1, 0), 0)
    assert task.roles == Roles(("primary-web",), ("db.*",))
    assert str(task.roles) == "primary-web, /db.*/"
    assert (task.requires, task.required_for) == (("x",), ("y",))
    assert task.cross_depends == (
        CrossDependency("b", Roles(scope="self"), "any"),
        CrossDependency("c.*", Roles(("web",)), is_pattern=True),
        CrossDependency("d", Roles(scope="sync")),
        CrossDependency("e", EVERYBODY),
    )
    assert [str(each.roles) for each in task.cross_depends] == ["self", "web", "null", "*"]
    assert task.cross_depended_by == (CrossDependency("f", EVERYBODY),)
    assert (task.condition, task.reexecute_on, task.refresh_on) == ("true", ("deploy_changes",), ("settings.a",))
    assert (task.strategy, task.fault_tolerance, task.fail_on_error) == (Strategy("parallel", 2), "20%", False)
    assert (group.tasks, group.fault_tolerance, group.strategy) == (("a",), -3, Strategy("one_by_one"))
    assert (gone.roles, gone.stage, gone.task_version) == (Roles(), "post_deployment/8100", (1, 0, 0))
    assert codes(5, deployment_tasks=text) == []


def test_settings_are_kept_in_the_order_of_their_weights() -> None:
    text = """
attributes:
  metadata: {label: L, weight: 70, toggleable: false, enabled: true, group: logging, restrictions: ["cluster:mode == 'x'"]}
  late: {type: text, label: Late, weight: 20, value: '', regex: {source: '^[a-z]+$', error: Small letters}}
  early: {type: number, label: E, weight: 10, value: '5', min: 1, max: 9, description: D}
  key: {type: hidden, label: K, weight: 30, value: {generator: password}}
  mode:
    type: radio
    label: M
    weight: 40
    value: local
    values: [{data: local, label: Here}, {data: far, label: There, restrictions: [{'cluster:x': m}]}]
"""
    form = package(4, environment_config=text).form
    early, late, key, mode = form.settings
    assert (form.label, form.weight, form.is_toggleable, form.is_enabled, form.group) == (
        "L",
        70,
        False,
        True,
        "logging",
    )
    assert form.restrictions == (Restriction("cluster:mode == 'x'"),)
    assert (early.id, early.min, early.max, early.description) == ("early", 1, 9, "D")
    assert (late.id, late.pattern, late.pattern_error) == ("late", "^[a-z]+$", "Small letters")
    assert (key.value, key.generator) == (None, "password")
    assert mode.choices[0] == Choice("local", "Here")
    assert mode.choices[1].restrictions == (Restriction("cluster:x", "m"),)


def test_roles_and_components_are_kept() -> None:
    roles = """
web:
  name: Web
  description: Serves
  conflicts: '*'
  has_primary: true
  limits:
    min: 1
    max: "settings:lma.count.value"
    condition: settings:lma.on
    overrides: [{condition: "cluster:mode == 'ha'", min: 3, message: m}]
  update_required: [db]
db: {name: DB, description: Keeps, conflicts: [web], weight: 5}
"""
    components = """
- name: network:lma
  label: L
  compatible: [{name: 'hypervisor:*'}]
  requires: [{name: 'storage:x', message: needs it}]
  incompatible: [{name: 'network:nsx'}]
  bind: [['cluster:a', 'b']]
"""
    found = package(5, node_roles=roles, components=components)
    web, db = found.node_roles
    assert (web.id, web.conflicts, web.has_primary, web.update_required) == ("web", ("*",), True, ("db",))
    assert web.limits == InstanceLimits(
        1,
        "settings:lma.count.value",
        None,
        "settings:lma.on",
        (LimitOverride("cluster:mode == 'ha'", 3, message="m"),),
    )
    assert (db.conflicts, db.weight, db.limits) == (("web",), 5, InstanceLimits())
    (component,) = found.components
    assert component.requires == (RelatedComponents("storage:x", "needs it"),)
    assert component.bind == (["cluster:a", "b"],)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("node_roles", "web: {name: W, description: D, limits: {min: 3, max: 1}}", "max: 1 is less than min, 3"),
        ("node_roles", "web: {name: W, description: D, limits: {min: -1}}", "min: -1 is no number of instances"),
        ("node_roles", "web: {name: W, description: D, limits: {min: 'a b'}}", "'a b' cannot be read"),
        ("node_roles", "[web]", 'node_roles.yaml (line 1): ["web"] is no mapping of roles'),
        ("volumes", "volumes: [{id: a, type: t}, {id: a, type: t}]\nvolumes_roles_mapping: {}", "item 2 -> id: 'a' is there twice"),
        ("network_roles", "- {id: a, default_mapping: b, properties: {subnet: x, gateway: true, vip: []}}", "subnet: 'x' is neither true nor false"),
        ("components", "- {name: 'network:a', label: l}\n- {name: 'network:a', label: l}", "component 2 (line 2), name: 'network:a' is there twice"),
        ("bond_config", "a: {type: text, value: x}", "bond_config.yaml (line 1), a -> label: the key is missing"),
        ("node_config", "[]", "node_config.yaml (line 1): [] is no mapping of sections"),
        ("node_config", "s: {metadata: {label: l}, a: {type: text, label: 5, value: 5}}", "s -> a -> label: 5 is no text"),
        ("nic_config", "metadata: {}", "metadata -> label: the key is missing"),
        ("environment_config", "attributes: {a: {type: text, label: l, weight: 1, value: [5]}}", "value -> item 1: 5 is neither text nor"),
        ("environment_config", "attributes: {a: {type: text, label: l, weight: 1, value: x, regex: {source: '(', error: e}}}", "'(' is no regular expression"),
        ("environment_config", "attributes: {metadata: {group: x}}", "'x' is not known here; use general, security"),
        ("environment_config", "attributes: {a: {type: text, label: l, weight: 1, value: x, restrictions: [5]}}", "5 is no restriction"),
        ("environment_config", "attributes: {a: {type: text, label: l, weight: 1, value: x, restrictions: []}}", "restrictions: [] is empty"),
        ("tasks", TASK + "  condition: a b\n", "condition: 'a b' cannot be read"),
        ("tasks", TASK + "  condition: {yaql_exp: a}\n", "is written in YAQL"),
        ("tasks", TASK.replace("type: shell", "type: shel"), "type: 'shel' is no type of a task here; use puppet, shell or reboot; did you mean 'shell'?"),
        ("tasks", TASK.replace("type: shell", "type: 5"), "type: 5 is no type of a task here"),
        ("deployment_tasks", "- a\n", "task 1 (line 1): 'a' is no mapping; a task is one"),
        ("deployment_tasks", GRANULAR + "  cross-depends: [{name: 'a b'}]\n", "name: 'a b' is not valid; use letters"),
        ("deployment_tasks", "a: b", 'deployment_tasks.yaml (line 1): {"a": "b"} is no list'),
        ("volumes", "[]", "volumes.yaml (line 1): [] is no mapping; the file is one"),
        ("network_roles", "[a]", "network role 1 (line 1): 'a' is no mapping"),
        ("metadata", metadata(5, "requires_product: 5\n"), "requires_product: 5 is no text"),
        ("environment_config", "attributes: {a: {type: text, label: l, weight: 1, value: x, regex: x}}", "regex: 'x' is no mapping"),
        ("deployment_tasks", GRANULAR.replace("2.0.0", "'2'") + "  cross-depends: []\n", "version: '2' is not valid"),
        ("metadata", metadata(5).replace("'9.0'", "'9.x'"), "'9.x' is no release of Fuel; use numbers with dots"),
        ("metadata", metadata(5).replace("['9.0']", "[9]"), 'item 1: 9 is no text; write it in quotes: "9"'),
        ("metadata", metadata(5).replace("repositories/ubuntu", "5"), "repository_path: 5 is no text"),
        ("tasks", "{}", "tasks.yaml (line 1): {} is no list; write a list of tasks: each begins with '- '"),
        ("tasks", "- 5", "task 1 (line 1): 5 is no mapping; a task is one; write its keys: role, stage, type, parameters"),
        ("tasks", TASK + "  condition: 5\n", "condition: 5 is no condition"),
        ("tasks", TASK.replace("['web']", "[5]"), "role -> item 1: 5 is no text"),
        ("tasks", TASK.replace("['web']", "5"), "role: 5 is not valid; use a list of roles"),
        ("deployment_tasks", GRANULAR.replace("['web']", "[5]"), "role -> item 1: 5 is no text"),
        ("deployment_tasks", GRANULAR + "  requires: {yaql_exp: a}\n", "requires: {\"yaql_exp\": \"a\"} is written in YAQL"),
        ("deployment_tasks", GRANULAR + "  cross-depends: {yaql_exp: a}\n", "is written in YAQL"),
        ("deployment_tasks", GRANULAR + "  cross-depends: [{name: {yaql_exp: a}}]\n", "name: {\"yaql_exp\": \"a\"} is written in YAQL"),
        ("deployment_tasks", GRANULAR + "  cross-depends: [{name: /(/}]\n", "'/(/' is no regular expression"),
        ("deployment_tasks", GRANULAR.replace("['web']", "/(?<=a)b/"), "is no regular expression: invalid perl operator: (?<"),
        ("deployment_tasks", GRANULAR.replace("['web']", r"/(a)\1/"), "is no regular expression: invalid escape sequence"),
        ("deployment_tasks", GRANULAR.replace("['web']", "{yaql_exp: a}"), "role: {\"yaql_exp\": \"a\"} is written in YAQL"),
    ],
)  # fmt: skip
def test_a_mistake_in_one_of_the_files_is_told(name: str, text: str, expected: str) -> None:
    (said,) = messages(5, **{name: text})
    assert expected in said


@pytest.mark.parametrize("number", [3, 4])
def test_a_task_without_roles_is_refused_first_and_later_warned_of(number: int) -> None:
    assert codes(number, deployment_tasks=GRANULAR.replace("  role: ['web']\n", "")) == [
        "PL-F005" if number == 3 else "PL-F055"
    ]


@pytest.mark.parametrize("number", [4, 5])
def test_a_task_whose_group_has_roles_needs_none(number: int) -> None:
    bare = GRANULAR.replace("  role: ['web']\n", "")
    group = "- id: g\n  type: group\n  role: ['web']\n  tasks: [a]\n  parameters: {strategy: {type: parallel}}\n"
    assert codes(number, deployment_tasks=bare + group) == []
    assert codes(number, deployment_tasks=bare + group.replace("[a]", "[b]")) == ["PL-F055"]


def test_files_that_are_empty_say_nothing_where_they_may_be_empty() -> None:
    empty = dict.fromkeys(("volumes", "network_roles", "node_roles", "components", "nic_config", "node_config"), "")
    assert codes(5, **empty) == []
    assert package(5, **empty).node_roles == ()


def test_a_task_without_work_needs_no_roles_in_format_3() -> None:
    assert codes(3, deployment_tasks="- {id: a, type: reboot}") == []


def test_very_many_problems_are_kept_up_to_a_bound() -> None:
    findings = Findings()
    for _ in range(MAX_FINDINGS + 5):
        FileElement(findings, PackageFile("tasks.yaml")).wrong("PL-F002", "is empty", "Write.")
    assert findings.errors_count == MAX_FINDINGS + 5
    assert len(findings.problems("x")) == MAX_FINDINGS


def test_a_role_alone_is_a_list_in_format_3() -> None:
    (said,) = messages(3, deployment_tasks=GRANULAR.replace("['web']", "web"))
    assert "'web' is not valid: a single role must be in a list; use a list of roles" in said
    assert package(3, deployment_tasks=GRANULAR.replace("['web']", "master")).granular_tasks[0].roles.scope == "master"


@pytest.mark.parametrize(
    ("number", "more", "code"),
    [
        (2, {"tasks": TASK + "  fail_on_eror: false\n"}, "PL-F050"),
        (2, {"node_roles": ""}, "PL-F056"),
        (2, {"metadata": metadata(2, "hooks: []\n")}, "PL-F057"),
        (5, {"deployment_tasks": GRANULAR.replace("  version: 2.0.0\n", "") + "  cross-depends: [{name: b}]\n"}, "PL-F058"),
        (2, {"tasks": TASK.replace("post_deployment", "post_deployment/1500")}, "PL-F051"),
        (2, {"tasks": TASK.replace("post_deployment", "post_deployment/4100")}, "PL-F051"),
    ],
)  # fmt: skip
def test_what_is_hardly_meant_is_a_warning(number: int, more: dict[str, str], code: str) -> None:
    package(number, **more)
    assert codes(number, **more) == [code]


def test_many_numbers_make_one_warning_and_plain_stages_none() -> None:
    tasks = "".join(TASK.replace("post_deployment", f"post_deployment/{number}") for number in range(4000, 4020)) + TASK
    (said,) = messages(2, tasks=tasks)
    assert "/4000, /4001, /4002, /4003, /4004, /4005, /4006 and /4007 and 12 more are outside 8000-8999" in said
    reserved = tasks.replace("/40", "/10")
    assert codes(2, tasks=reserved) == ["PL-F051"]
    assert codes(2, tasks=tasks.replace("/40", "/80")) == []


OWN = """types: [types.yaml]
phases: [phases, phases/one.cfg]
python: {paths: [code], entry_points: {phaseline.operations: {ntp: acme.ntp}}}
hooks: ['acme.hooks:Quota', {class: 'acme.hooks:Licence', name: licence, options: {seats: 5}, optional: true}]
stages: {on: [install, uninstall]}
requires_product: '>=0.1,<2'
"""
IN_IT = {"types.yaml": b"", "phases/one.cfg": b"", "code/acme/hooks.py": b""}


def test_a_package_of_our_own_format_brings_code() -> None:
    tasks = TASK + TASK.replace("  type: shell", "  type: python\n  on: [heal]").replace(
        "cmd: ./a.sh", "function: 'acme.ntp:check'"
    )
    found = read_package(files(10, metadata=metadata(10, OWN), tasks=tasks) | IN_IT).package
    assert found is not None
    assert found.format == NATIVE
    assert found.requires_product == ">=0.1,<2"
    assert (found.code.types, found.code.phases, found.code.paths) == (
        ("types.yaml",),
        ("phases", "phases/one.cfg"),
        ("code",),
    )
    assert found.code.hooks == (
        PackageHookClass("acme.hooks:Quota"),
        PackageHookClass("acme.hooks:Licence", "licence", {"seats": 5}, is_optional=True),
    )
    assert found.code.entry_points == {"phaseline.operations": {"ntp": "acme.ntp"}}
    assert [task.on for task in found.stage_tasks] == [("install", "uninstall"), ("heal",)]


def test_what_a_package_of_our_own_names_must_be_in_it() -> None:
    found = read_package(files(10, metadata=metadata(10, OWN))).problems
    assert [problem.code for problem in found] == ["PL-F040"] * 4
    (said,) = messages(10, metadata=metadata(10, "hooks: ['a:B']\n"))
    assert "python: there is no folder with the code" in said
    inside = read_package(files(10, metadata=metadata(10, "hooks: ['a:B']\n")) | {"python/a.py": b""}).package
    assert inside is not None
    assert inside.code.paths == ("python",)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("hooks: [quota]\n", "hooks -> item 1: 'quota' is not valid; use module:name"),
        ("hooks: [{class: 'a:B', opt: 1}]\n", "opt: a hook class has no such key"),
        ("python: {entry_points: {phaseline.operation: {a: b}}}\n", "did you mean 'phaseline.operations'?"),
        ("stages: {on: install}\n", "stages -> on: 'install' is no list; write a list: [install]"),
        ("requires_product: 1.x\n", "'1.x' specifies no versions"),
        ("types: [../types.yaml]\n", "'../types.yaml' is no file of the package"),
    ],
)
def test_mistakes_of_what_is_our_own(more: str, expected: str) -> None:
    found = [
        f"{problem.message}; {problem.mend}"
        for problem in read_package(files(10, metadata=metadata(10, more)) | {"python/a.py": b""}).problems
    ]
    assert any(expected in message for message in found), found


def test_an_unknown_format_is_refused_and_only_metadata_are_checked() -> None:
    found = codes(5, metadata=metadata(5).replace("5.0.0", "6.0.0").replace("name: lma", "name: L M A"), tasks="- x")
    assert sorted(found) == ["PL-F003", "PL-F004"]
    assert codes(5, metadata="") == ["PL-F002"]
    assert codes(5, metadata="[]") == ["PL-F004"]
    (said,) = messages(1, metadata=metadata(1).replace("1.0.0", "1.0"))
    assert "package_version: 1.0 is not supported;" in said
    assert said.endswith("write it in quotes")


def test_until_a_package_says_its_name_it_is_called_as_its_reader_calls_it() -> None:
    (problem, *_) = read_package(files(2, metadata="version: 1.0.0\n"), "lma.fp").problems
    assert problem.message.startswith("lma.fp: metadata.yaml (line 1)")
    assert messages(2, metadata=metadata(2).replace("version: 1.0.2", "version: x"))[0].startswith("lma: ")


def test_every_file_of_every_format_has_its_check() -> None:
    assert set(CHECKS) | {"metadata.yaml"} == set(FILES)
    assert all(is_read(name) for name in FILES)
    assert not is_read("repositories/ubuntu/a.deb")
    assert all(set(each.files) <= set(FILES) for each in FORMATS.values())


def test_what_the_blueprint_says_of_an_operation_a_task_cannot_say() -> None:
    task = "- role: '*'\n  stage: post_deployment\n  type: operation\n  parameters: {operation: a.b, timeout: 3, inputs: {a: 1}}\n"
    (problem,) = read_package(files(10, tasks=task)).problems
    assert (problem.code, problem.severity) == ("PL-F057", "warning")
    assert "has no effect: an operation is called as the blueprint maps it" in problem.message


@pytest.mark.alone
def test_f47_checking_a_package_of_fifty_tasks_takes_less_than_150_ms() -> None:
    tasks = "".join(TASK.replace("post_deployment", f"post_deployment/{number}") for number in range(8000, 8050))
    wrong = tasks.replace("/8", ":8")
    for text, count in ((tasks, 0), (wrong, 50)):
        content = files(
            5, tasks=text, deployment_tasks="".join(GRANULAR.replace("id: a", f"id: a{n}") for n in range(50))
        )
        best = 1.0
        for _ in range(3):
            began = process_time()
            found = read_package(content)
            best = min(best, process_time() - began)
        assert len(found.problems) == count
        assert best < 0.15


def test_a_folder_that_the_build_hook_may_make_is_no_mistake_yet() -> None:
    read = read_package(
        {name: body for name, body in files(5).items() if not name.startswith("repositories/")}
        | {"pre_build_hook": b"#!/bin/sh\n"}
    )
    assert read.package is not None
    assert [(problem.code, problem.severity) for problem in read.problems] == [("PL-F024", "warning")]


def test_an_expression_in_yaql_is_a_text() -> None:
    assert codes(5, deployment_tasks=GRANULAR + "  condition: {yaql_exp: 7}\n") == ["PL-F004"]


@pytest.mark.parametrize(("value", "expected"), [("{generator: port}", []), ("{generator: 7}", ["PL-F004"])])
def test_a_number_of_our_own_format_may_be_generated(value: str, expected: list[str]) -> None:
    form = f"attributes:\n  port: {{type: number, label: P, weight: 1, value: {value}}}\n"
    assert codes(10, environment_config=form) == expected
