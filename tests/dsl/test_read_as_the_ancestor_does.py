"""What the ancestor's reader takes and ours once refused, or the other way round: reduced from public blueprints."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, problems, read, whole

from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.reader import read_blueprint, read_whole
from phaseline.model.problems.problem import ProblemsError

PLUGIN = "plugins: {p: {executor: central_deployment_agent, install: false}}\n"
FLOW = {
    "{concat:[a,b]}": {"concat": ["a", "b"]},
    "{a:{b: 1}}": {"a": {"b": 1}},
    "{a:,b: 1}": {"a": None, "b": 1},
    "{a:}": {"a": None},
    "[a:[b]]": [{"a": ["b"]}],
    "{http://x:[1], c:{d:[e:{}]}}": {"http://x": [1], "c": {"d": [{"e": {}}]}},
    '{"q":[b], c: "x:[y]", d:[z]}': {"q": ["b"], "c": "x:[y]", "d": ["z"]},
}


@pytest.mark.parametrize(("text", "value"), FLOW.items(), ids=FLOW)
def test_b01_a_flow_mapping_needs_no_space_behind_its_colons(text: str, value: object) -> None:
    assert read(f"dsl_definitions: {{}}\nmetadata: {{v: {text}}}").metadata == {"v": value}


def test_b01_what_stands_behind_such_a_colon_has_its_own_place() -> None:
    text = "node_templates: {web:{type:[x]}, db:{type: nope}}\n"
    found = [(p.code, p.place.line, p.place.column, p.place.text) for p in problems(text)]
    line = text.rstrip()
    assert found == [("PL-B015", 3, line.index("[x]") + 1, line), ("PL-B030", 3, line.index("nope") + 1, line)]


@pytest.mark.parametrize("text", ["{a: b:[c]}", "{a\n  :[b]}", "{a:?b}"])
def test_b01_what_the_ancestor_cannot_read_either_stays_an_error(text: str) -> None:
    assert codes(f"metadata: {{v: {text}}}") == ["PL-B004"]


def test_b01_a_problem_before_such_a_colon_is_told_once() -> None:
    assert codes("metadata: {a: 1, a: 2, b:[c], d:[e]}") == ["PL-B005"]


def test_b40_an_input_may_be_named_by_a_list_of_one() -> None:
    text = "inputs: {a: {default: 5}}\noutputs: {o: {value: {get_input: [a]}}}"
    assert read(text).outputs["o"].value == {"get_input": ["a"]}


@pytest.mark.parametrize("first", [True, False])
def test_b07_a_template_with_only_relationships_extends_the_other_one_whichever_comes_first(*, first: bool) -> None:
    part = "node_templates:\n  web: {relationships: [{type: cloudify.relationships.depends_on, target: a}]}\n"
    rest = """node_templates:
  a: {type: cloudify.nodes.Root}
  b: {type: cloudify.nodes.Root}
  web:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: b}]
"""
    imports = "imports: [cloudify/types/types.yaml, other.yaml]\n"
    main, other = (part, rest) if first else (rest, part)
    web = read(imports + main, others={"other.yaml": other}).nodes["web"]
    assert [item.target for item in web.relationships] == (["a", "b"] if first else ["b", "a"])


def test_b07_a_template_that_nobody_gives_a_type_is_told() -> None:
    assert codes("node_templates: {web: {relationships: []}}") == ["PL-B016"]


def test_b31_a_mapping_may_name_a_function_of_the_plugin_itself() -> None:
    text = f"{PLUGIN}node_templates: {{w: {{type: cloudify.nodes.Root, interfaces: {{i: {{run: p.go}}}}}}}}"
    operation = read(text).nodes["w"].operations["i.run"]
    assert (operation.plugin, operation.implementation) == ("p", "go")


TYPE = """
node_types:
  t:
    derived_from: cloudify.nodes.Root
    properties: {port: {default: {get_input: nowhere}}, peer: {default: {get_attribute: [nobody, ip]}}}
    interfaces:
      i:
        run: gone.module.function
        walk: {implementation: p.m.f, inputs: {x: {default: {get_input: nowhere}}}}
"""
OVER = "{run: p.m.f, walk: {implementation: p.m.f, inputs: {x: 1}}}"


def test_b32_what_every_template_overrides_is_not_looked_at() -> None:
    text = f"""{PLUGIN}{TYPE}
node_templates:
  web: {{type: t, properties: {{port: 1, peer: x}}, interfaces: {{i: {OVER}}}}}
"""
    assert read(text).warnings == ()


def test_b32_what_one_template_does_not_override_is_told_at_the_type_once() -> None:
    text = f"""{PLUGIN}{TYPE}
node_templates:
  web: {{type: t, properties: {{port: 1, peer: x}}, interfaces: {{i: {OVER}}}}}
  a: {{type: t}}
  b: {{type: t}}
"""
    assert [(p.code, p.place.line) for p in problems(text)] == [
        ("PL-B071", 8),
        ("PL-B073", 8),
        ("PL-B060", 11),
        ("PL-B071", 12),
    ]


def test_b32_of_a_type_without_templates_the_mapping_is_a_warning() -> None:
    assert [(p.code, p.severity) for p in read(PLUGIN + TYPE).warnings] == [("PL-B060", "warning")]


def test_b32_a_malformed_function_in_a_default_is_told_where_a_template_has_it() -> None:
    text = """
    node_types: {t: {derived_from: cloudify.nodes.Root, properties: {p: {default: {get_input: {a: 1}}}}}}
    node_templates: {web: {type: t, properties: {p: 1}}}
    """
    assert codes(text) == []
    assert codes(text.replace(", properties: {p: 1}", "")) == ["PL-B070"]


def test_b32_a_derived_type_may_override_as_well() -> None:
    text = f"""{PLUGIN}{TYPE}
  u: {{derived_from: t, properties: {{port: {{default: 1}}, peer: {{}}}}, interfaces: {{i: {{run: p.m.f, walk: p.m.f}}}}}}
node_templates:
  web: {{type: u, properties: {{peer: 1}}}}
"""
    assert read(text).warnings == ()


def test_b26_groups_of_deployments_may_be_functions() -> None:
    text = "inputs: {g: {default: edge}}\ndeployment_settings: {default_groups: [{get_input: g}, all]}"
    assert codes(text) == []
    assert codes("deployment_settings: {default_groups: [{get_input: g}]}") == ["PL-B071"]
    assert codes("deployment_settings: {default_groups: [5]}") == ["PL-B015"]


def test_b31_scripts_run_by_a_plugin_that_is_declared_under_a_namespace() -> None:
    text = """
    imports: [n--other.yaml]
    node_types: {t: {}}
    node_templates: {w: {type: t, interfaces: {i: {run: a.sh}}}}
    """
    other = "plugins: {script: {executor: central_deployment_agent, install: false}}"
    operation = read(text, types=False, scripts=("a.sh",), others={"other.yaml": other}).nodes["w"].operations["i.run"]
    assert (operation.plugin, operation.form, operation.implementation) == ("n--script", "script", "a.sh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a: {derived_from: b}, b: {derived_from: a}}", [102, 100]),
        ("{a: {properties: {p: {type: nope}}}}", [102, 103]),
        ("{string: {properties: {}}}", [102, 104]),
        ("{a: {derived_from: nope}}", [102, 103]),
    ],
)
def test_b04_what_is_wrong_in_a_section_of_a_later_version_is_told_at_once(text: str, expected: list[int]) -> None:
    assert [p.cloudify_code for p in problems(f"data_types: {text}", minor=1, types=False)] == expected


def test_b04_a_property_that_a_data_type_has_not_is_106_below_its_version_too() -> None:
    text = """
    data_types: {a: {properties: {q: {default: 1}}}}
    node_types: {t: {properties: {p: {type: a}}}}
    node_templates: {w: {type: t, properties: {p: {zz: 1}}}}
    """
    assert [p.cloudify_code for p in problems(text, minor=1, types=False)] == [102, 106]


def unvalidated(main: str, other: str) -> None:
    """Read a file that imports another one, whatever versions these have."""
    files = {MAIN: f"tosca_definitions_version: cloudify_dsl_1_0\nimports: [o.yaml]\n{main}", "o.yaml": other}
    read_blueprint(MAIN, Texts(files), validate_version=False)


def test_b03_versions_that_are_not_validated_let_newer_files_in() -> None:
    unvalidated("", "tosca_definitions_version: cloudify_dsl_1_4\nnode_types: {t: {}}")
    unvalidated("outputs: {o: {value: {merge: [{a: 1}]}}}", "node_types: {t: {}}")


def test_b07_sections_of_several_files_need_their_version_all_the_same() -> None:
    with pytest.raises(ProblemsError) as caught:
        unvalidated("inputs: {a: {}}", "inputs: {b: {}}")
    assert [problem.code for problem in caught.value.problems] == ["PL-B024"]


def document(text: str, **more: object) -> dict[str, object]:
    """The plan of a text."""
    return plan_document(*read_whole(MAIN, Texts({MAIN: whole(text, types=False)}, ("a.sh",))))


def test_b34_a_script_with_the_central_executor_needs_its_plugin_there() -> None:
    text = """
    plugins: {script: {executor: host_agent, install: false}}
    node_types: {t: {}}
    node_templates: {w: {type: t, interfaces: {i: {run: {implementation: a.sh, executor: EXECUTOR}}}}}
    """
    central = document(text.replace("EXECUTOR", "central_deployment_agent"))
    assert [one["name"] for one in central["deployment_plugins_to_install"]] == ["script"]  # type: ignore[attr-defined, index]  # a list of mappings
    anywhere = document(text.replace(", executor: EXECUTOR", ""))
    assert anywhere["deployment_plugins_to_install"] == []


def test_b23_defaults_of_inputs_and_parameters_have_what_their_data_type_adds() -> None:
    plan = document(f"""
    data_types: {{d: {{properties: {{q: {{default: 1}}, r: {{default: 2}}}}}}}}
    inputs: {{i: {{type: d, default: {{q: 9}}}}}}
    {PLUGIN.strip()}
    workflows: {{w: {{mapping: p.m.f, parameters: {{a: {{type: d, default: {{q: 5}}}}, b: {{type: d}}}}}}}}
    """)
    assert plan["inputs"] == {"i": {"type": "d", "default": {"q": 9, "r": 2}}}
    parameters = plan["workflows"]["w"]["parameters"]  # type: ignore[index]  # a mapping
    assert parameters == {"a": {"type": "d", "default": {"q": 5, "r": 2}}, "b": {"type": "d"}}


TWICE = """
plugins: {p: {executor: central_deployment_agent, install: false}}
node_types:
  t:
    properties: {a: {default: 1}}
    properties: {a: {default: 2}}
"""


@pytest.mark.parametrize(("line", "path"), [("plugin:p", "plugins/p.yaml"), ("https://x.org/p.yaml",) * 2])
def test_b01_of_a_key_given_twice_in_the_definition_file_of_a_plugin_the_last_counts_with_a_warning(
    line: str, path: str
) -> None:
    text = f"imports: ['{line}']\nnode_templates: {{w: {{type: t}}}}"
    found = read(text, types=False, others={path: TWICE})
    assert found.nodes["w"].properties == {"a": 2}
    assert [(p.code, p.severity, p.place.file, p.place.line) for p in found.warnings] == [
        ("PL-B005", "warning", path, 6)
    ]


def test_b01_a_key_given_twice_in_a_file_of_ones_own_is_refused_there_too() -> None:
    assert codes("imports: [own.yaml]", types=False, others={"own.yaml": TWICE}) == ["PL-B005"]


def test_b01_what_a_definition_file_imports_is_one_as_well() -> None:
    others = {"plugins/p.yaml": "imports: [more.yaml]\nplugins: {}", "plugins/more.yaml": TWICE}
    assert codes("imports: ['plugin:p']", types=False, others=others) == []


def test_b07_a_plugin_may_declare_a_built_in_type_anew() -> None:
    plugin = "node_types: {cloudify.nodes.Component: {properties: {mine: {default: 1}}}}"
    text = "imports: [cloudify/types/types.yaml, 'plugin:p']\nnode_templates: {w: {type: cloudify.nodes.Component}}"
    assert read(text, others={"plugins/p.yaml": plugin}).nodes["w"].properties == {"mine": 1}


def test_b20_functions_in_policies_of_groups_may_say_self() -> None:
    text = """
    policy_types: {t: {source: a, properties: {p: {}}}}
    policy_triggers: {g: {source: a, parameters: {q: {}}}}
    node_templates: {w: {type: cloudify.nodes.Root}}
    groups:
      g:
        members: [w]
        policies:
          one:
            type: t
            properties: {p: {get_property: [SELF, x]}}
            triggers: {u: {type: g, parameters: {q: {get_attribute: [SELF, x]}}}}
    """
    assert codes(text) == []
    assert codes(text.replace("get_property: [SELF, x]", "get_property: [nobody, x]")) == ["PL-B073"]


def test_b08_two_lines_that_lead_to_one_definition_file_read_it_once() -> None:
    files = Texts({MAIN: whole("imports: ['one:p', 'two:p']", types=False), "p.yaml": PLUGIN})
    files.rules = [("one:p", "p.yaml"), ("two:p", "p.yaml")]
    assert list(read_blueprint(MAIN, files).plugins) == ["p"]


@pytest.mark.parametrize("argument", ["[true, a]", "[a, true]"])
def test_b40_a_truth_value_is_no_name(argument: str) -> None:
    assert codes(f"outputs: {{o: {{value: {{get_capability: {argument}}}}}}}") == ["PL-B070"]


def test_b08_scripts_and_descriptions_under_a_namespace_stay_as_written() -> None:
    other = """
    plugins: {script: {executor: central_deployment_agent, install: false}}
    data_types: {d: {description: What it is., properties: {}}}
    node_types: {t: {properties: {p: {type: d}}, interfaces: {i: {run: a.sh}}}}
    """
    text = "imports: [n--other.yaml]\nnode_templates: {w: {type: n--t}}"
    found = read(text, types=False, scripts=("a.sh",), others={"other.yaml": other})
    assert found.nodes["w"].operations["i.run"].implementation == "a.sh"
    assert found.data_types["n--d"].description == "What it is."


def test_b25_a_mapping_is_no_value_of_a_label() -> None:
    assert codes("labels: {a: {values: [{b: 1}]}}") == ["PL-B158"]


OLD, NEW = (
    "https://getcloudify.org/spec/cloudify/3.1/types.yaml",
    "https://getcloudify.org/spec/cloudify/3.4/types.yaml",
)


@pytest.mark.parametrize(("first", "second", "default"), [(NEW, OLD, True), (OLD, NEW, False)])
def test_b07_of_two_sets_of_built_in_types_the_later_one_has_the_workflows_too(
    first: str, second: str, *, default: bool
) -> None:
    plugins = {"plugins/p.yaml": f"imports: ['{second}']"}
    workflow = read(f"imports: ['{first}', 'plugin:p']", minor=3, others=plugins).workflows["scale"]
    assert workflow.parameters["scale_compute"].default is default


def test_b07_a_second_set_of_built_in_types_is_taken_whole_although_it_shares_files_with_the_first() -> None:
    plugins = {
        "plugins/p.yaml": "node_types: {cloudify.nodes.Tier: {properties: {mine: {default: 1}}}}",
        "plugins/q.yaml": f"imports: ['{OLD}']",
    }
    text = f"imports: ['{NEW}', 'plugin:p', LAST]\nnode_templates: {{w: {{type: cloudify.nodes.Tier}}}}"
    web = read(text.replace("LAST", "'plugin:q'"), minor=3, others=plugins).nodes["w"]
    assert "mine" not in web.properties
    assert "mine" in read(text.replace(", LAST", ""), minor=3, others=plugins).nodes["w"].properties


ROOT = "node_types: {cloudify.nodes.Root: {}}\n"


@pytest.mark.parametrize(
    "section",
    [
        "plugins: {NAME: {executor: host_agent, install: false}}",
        "inputs: {NAME: {default: 1}}",
        "policy_triggers: {NAME: {source: a}}",
        "data_types: {NAME: {properties: {}}}",
    ],
)
def test_b07_what_basic_types_define_is_not_defined_anew_by_a_later_file_but_the_other_way_round(section: str) -> None:
    text = section.replace("NAME", "a")
    imports = "imports: [one.yaml, two.yaml]\n"
    assert codes(imports, others={"one.yaml": ROOT + text, "two.yaml": text}) == ["PL-B025"]
    assert codes(imports, others={"one.yaml": text, "two.yaml": ROOT + text}) == []
    names = section.replace("NAME", "cloudify.a")
    assert codes(imports, others={"one.yaml": ROOT + names, "two.yaml": names}) == []


@pytest.mark.parametrize(("name", "root", "value"), [("a", "", "one"), ("a", ROOT, "two"), ("cloudify.a", "", "two")])
def test_b07_labels_of_basic_types_and_of_their_names_are_those_of_the_later_file(
    name: str, root: str, value: str
) -> None:
    others = {"two.yaml": f"{root}labels: {{{name}: {{values: [two]}}}}"}
    found = read(f"imports: [two.yaml]\nlabels: {{{name}: {{values: [one]}}}}", others=others)
    assert found.labels == {name: [value]}


def test_b07_a_workflow_whose_name_is_one_of_cloudify_is_that_of_the_later_file() -> None:
    flow = "workflows: {cloudify.w: {mapping: p.m.NAME, is_cascading: TRUE}}"
    main = f"imports: [o.yaml]\n{PLUGIN}{flow.replace('NAME', 'one').replace('TRUE', 'true')}"
    found = read(main, others={"o.yaml": flow.replace("NAME", "two").replace("TRUE", "false")}).workflows["cloudify.w"]
    assert (found.mapping, found.is_cascading) == ("m.two", False)


@pytest.mark.parametrize("root", ["", ROOT])
def test_b07_wd1_workflows_of_the_main_file_are_kept_whether_or_not_it_defines_the_root(root: str) -> None:
    found = read(f"imports: [cloudify/types/types.yaml]\n{root}{PLUGIN}workflows: {{scale: p.m.f}}")
    assert found.workflows["scale"].mapping == "m.f"
    assert [warning.code for warning in found.warnings] == ["PL-B027"]


def test_b07_wd1_workflows_of_a_file_imported_before_the_basic_types_are_kept() -> None:
    text = "imports: [ORDER]\n" + PLUGIN
    others = {"o.yaml": "workflows: {scale: p.m.f}"}
    before = read(text.replace("ORDER", "o.yaml, cloudify/types/types.yaml"), others=others)
    assert (before.workflows["scale"].mapping, [w.code for w in before.warnings]) == ("m.f", ["PL-B027"])
    after = read(text.replace("ORDER", "cloudify/types/types.yaml, o.yaml"), others=others)
    assert after.workflows["scale"].plugin == "default_workflows"


def test_b08_metadata_alone_make_no_basic_types() -> None:
    others = {"o.yaml": "metadata: {cloudify_types: x}\nnode_types: {t: {}}"}
    assert list(read("imports: [n--o.yaml]\nnode_templates: {w: {type: n--t}}", types=False, others=others).nodes) == [
        "w"
    ]
    assert codes("imports: [n--o.yaml]", others={"o.yaml": "metadata: {cloudify_types: x}"}) == []


@pytest.mark.parametrize("first", [True, False])
def test_b07_of_two_equal_workflows_one_may_be_written_as_text(*, first: bool) -> None:
    short, long = "workflows: {w: p.m.f}", "workflows: {w: {mapping: p.m.g, is_cascading: true}}"
    main, other = (short, long) if first else (long, short)
    found = read(f"imports: [o.yaml]\n{PLUGIN}{main}", others={"o.yaml": other}).workflows["w"]
    assert (found.mapping, found.is_cascading) == ("m.f" if first else "m.g", True)


@pytest.mark.parametrize("line", ["sub/b.yaml", "b.yaml"])
def test_b06_a_sibling_for_the_version_is_taken_beside_the_importing_file_too(line: str) -> None:
    here = "sub/" if line.startswith("sub") else ""
    others = {
        f"{here}b.yaml": "imports: [c.yaml]",
        f"{here}c.yaml": "inputs: {plain: {}}",
        f"{here}c_1_4.yaml": "inputs: {for_1_4: {}}",
    }
    assert list(read(f"imports: [{line}]", others=others).inputs) == ["for_1_4"]
