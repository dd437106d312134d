"""B1-B6: YAML, positions, versions, strictness, imports."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, numbers, problems, read, whole

from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import ProblemsError

NODE = "node_templates: {web: {type: cloudify.nodes.Root}}\n"


def metadata(text: str) -> dict[str, object]:
    return dict(read(f"metadata:\n  {text}\n").metadata)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("off", False),
        ("80", 80),
        ("0x1F", 31),
        ("0b101", 5),
        ("010", 8),
        ("1_000", 1000),
        ("-7", -7),
        ("1:30", 90),
        ("1.5", 1.5),
        ("1e3", "1e3"),
        ("1.0e+3", 1000.0),
        ("~", None),
        ("2024-01-31", "2024-01-31"),
        ("'80'", "80"),
        ('"yes"', "yes"),
        ("!!str 80", "80"),
        ("!!int '80'", 80),
        ("=", "="),
        ("Grüße ☂", "Grüße ☂"),
    ],
)
def test_b01_scalars_mean_what_yaml_1_1_says(text: str, value: object) -> None:
    found = metadata(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


def test_b01_anchors_and_merges_work() -> None:
    text = """
    metadata:
      base: &base {a: 1, b: 2}
      other: &other {b: 3, c: 4}
      one: {<<: *base, b: 5}
      both: {<<: [*base, *other], d: 6}
      same: *base
    """
    found = read(text).metadata
    assert found["one"] == {"a": 1, "b": 5}
    assert found["both"] == {"a": 1, "b": 2, "c": 4, "d": 6}
    assert found["same"] == found["base"]


def test_b01_any_unicode_is_accepted_in_keys_too() -> None:
    assert read("inputs: {größe: {default: 5}}").inputs["größe"].default == 5


def test_b01_keys_must_be_text() -> None:
    assert [(p.code, p.place.line) for p in problems("metadata:\n  [on]: 1\n")] == [("PL-B006", 4)]
    assert [(p.code, p.place.line) for p in problems("metadata:\n  ~: 1\n")] == [("PL-B006", 4)]


def test_b01_numbers_and_truths_as_keys_are_what_json_makes_of_them() -> None:
    found = read("metadata: {on: 1, 80: 2, 1.5: 3, 0x10: 4, 'on': 5}\n").metadata
    assert found == {"true": 1, "80": 2, "1.5": 3, "16": 4, "on": 5}
    assert [(p.code, p.place.line) for p in problems("metadata:\n  true: 1\n  yes: 2\n")] == [("PL-B005", 5)]


def test_b01_what_is_wrong_below_such_a_key_has_its_place() -> None:
    text = "node_templates:\n  80: {type: cloudify.nodes.Root}\n  yes: {type: nope}\n"
    assert [(p.code, p.place.line, p.place.column) for p in problems(text)] == [("PL-B030", 5, 15)]


def test_b16_runtime_properties_of_a_type_may_stand_in_every_version() -> None:
    for minor in range(6):
        assert not problems("node_types: {t: {derived_from: cloudify.nodes.Root, runtime_properties: {}}}", minor=minor)


def test_b01_a_key_given_twice_is_told() -> None:
    assert [(p.code, p.place.line) for p in problems("metadata:\n  a: 1\n  a: 2\n")] == [("PL-B005", 5)]


def test_b01_broken_yaml_has_the_ancestors_number_and_a_position() -> None:
    (found,) = problems("node_templates: [")
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B004", -1, "DSLParsingFormatException")
    assert found.place.line > 0


def test_b01_an_empty_document_fails_for_its_version() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Texts({MAIN: ""}))
    assert [problem.code for problem in caught.value.problems] == ["PL-B010"]


def test_b02_an_error_has_file_line_column_path_code_and_class() -> None:
    (found,) = problems("node_templates:\n  web: {type: nothing}\n")
    place = found.place
    assert (place.file, place.line, place.column, place.path) == (MAIN, 4, 15, "node_templates.web.type")
    assert place.text == "  web: {type: nothing}"
    assert (found.cloudify_code, found.cloudify_class) == (7, "DSLParsingLogicException")


def test_b02_a_value_that_came_by_an_alias_is_shown_where_it_stands() -> None:
    text = """
    dsl_definitions:
      wrong: &wrong {prot: 80}
    node_templates:
      web:
        type: cloudify.nodes.WebServer
        properties:
          <<: *wrong
    """
    (found,) = problems(text)
    assert (found.code, found.place.line) == ("PL-B035", 4)


@pytest.mark.parametrize(
    ("version", "number"),
    [
        ("''", 71),
        ("~", 71),
        ("1", 72),
        ("tosca_1_0", 73),
        ("cloudify_dsl_1", 73),
        ("cloudify_dsl_1_2_3_4", 73),
        ("cloudify_dsl_x_0", 74),
        ("cloudify_dsl_1_x", 75),
        ("cloudify_dsl_1_0_x", 76),
        ("cloudify_dsl_1_6", 29),
        ("cloudify_dsl_2_0", 29),
        ("cloudify_dsl_1_00", 29),
    ],
)
def test_b03_a_wrong_version_has_the_ancestors_number(version: str, number: int) -> None:
    assert numbers(f"tosca_definitions_version: {version}\n") == [number]


def test_b03_an_absent_version_is_27() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Texts({MAIN: "inputs: {}"}))
    assert [problem.cloudify_code for problem in caught.value.problems] == [27]


@pytest.mark.parametrize("minor", range(6))
def test_b03_all_six_versions_are_read(minor: int) -> None:
    assert read(NODE, minor=minor).version == f"cloudify_dsl_1_{minor}"


def test_b03_an_imported_file_may_have_a_lower_version_or_none() -> None:
    others = {"low.yaml": "tosca_definitions_version: cloudify_dsl_1_0\n", "none.yaml": "inputs: {}\n"}
    assert codes("imports: [low.yaml, none.yaml]", others=others) == []


def test_b03_a_higher_version_in_an_imported_file_is_28() -> None:
    others = {"high.yaml": "tosca_definitions_version: cloudify_dsl_1_5\n"}
    assert numbers("imports: [high.yaml]", others=others) == [28]


def test_b01_an_imported_file_that_is_not_yaml_has_the_number_of_a_main_file_that_is_none() -> None:
    broken = "inputs: {a: [1\n"
    assert numbers(broken, types=False) == [-1]
    assert sorted(map(str, numbers("imports: [b.yaml]\noutputs: 5\n", others={"b.yaml": broken}))) == ["-1", "1"]


def test_b03_version_checks_can_be_switched_off() -> None:
    text = whole("description: newer than 1_0\n", minor=0)
    assert read_blueprint(MAIN, Texts({MAIN: text}), validate_version=False).description == "newer than 1_0"


def test_b04_an_element_of_a_later_version_is_102() -> None:
    (found,) = problems("dsl_definitions: {}\n", minor=1)
    assert found.cloudify_code == 102
    assert (
        found.message
        == "'dsl_definitions' is not supported in version cloudify_dsl_1_1, it was added in cloudify_dsl_1_2"
    )


PLUGIN = "plugins: {{p: {{executor: central_deployment_agent, install: false, {0}}}}}"
SINCE = {
    "max_retries": (1, "node_templates: {n: {type: cloudify.nodes.Root, interfaces: {a: {b: {max_retries: 1}}}}}"),
    "retry_interval": (
        1,
        "node_templates: {n: {type: cloudify.nodes.Root, interfaces: {a: {b: {retry_interval: 1}}}}}",
    ),
    "install_arguments": (1, PLUGIN.format("install_arguments: x")),
    "concat": (1, "outputs: {o: {value: {concat: [a, b]}}}"),
    "dsl_definitions": (2, "dsl_definitions: {}"),
    "description": (2, "description: x"),
    "data_types": (2, "data_types: {}"),
    "required": (2, "node_types: {t: {derived_from: cloudify.nodes.Root, properties: {p: {required: false}}}}"),
    "package_name": (2, PLUGIN.format("package_name: x")),
    "package_version": (2, PLUGIN.format("package_version: x")),
    "supported_platform": (2, PLUGIN.format("supported_platform: x")),
    "distribution": (2, PLUGIN.format("distribution: x")),
    "distribution_version": (2, PLUGIN.format("distribution_version: x")),
    "distribution_release": (2, PLUGIN.format("distribution_release: x")),
    "policies": (3, "policies: {}"),
    "capabilities": (3, "node_templates: {n: {type: cloudify.nodes.Root, capabilities: {scalable: {}}}}"),
    "display_label": (3, "inputs: {i: {display_label: x}}"),
    "hidden": (3, "inputs: {i: {hidden: false}}"),
    "resource_tags": (3, "resource_tags: {}"),
    "merge": (3, "outputs: {o: {value: {merge: [{a: 1}, {b: 2}]}}}"),
    "blueprint_id": (4, "inputs: {i: {type: blueprint_id}}"),
    "deployment_id": (4, "inputs: {i: {type: deployment_id}}"),
    "capability_value": (4, "inputs: {i: {type: capability_value}}"),
    "scaling_group": (4, "inputs: {i: {type: scaling_group}}"),
    "node_id": (4, "inputs: {i: {type: node_id}}"),
    "node_type": (4, "inputs: {i: {type: node_type}}"),
    "node_instance": (4, "inputs: {i: {type: node_instance}}"),
    "secret_key": (4, "inputs: {i: {type: secret_key}}"),
    "item_type": (4, "inputs: {i: {type: list, item_type: string}}"),
    "availability_rules": (4, PLUGIN.format("") + "\nworkflows: {w: {mapping: p.m.f, availability_rules: {}}}"),
    "operation_name": (5, "inputs: {i: {type: operation_name}}"),
    "properties": (5, PLUGIN.format("properties: {}")),
    "properties_description": (5, PLUGIN.format("properties_description: x")),
    "properties on an import line": (5, "imports: [cloudify/types/types.yaml, {'plugin:x': {a: 1}}]"),
}
"""{what: (minor version that adds it, a blueprint with it)}, the table of B4."""


@pytest.mark.parametrize("what", SINCE)
def test_b04_each_element_is_102_below_its_version_and_known_from_then_on(what: str) -> None:
    since, text = SINCE[what]
    for minor in range(6):
        found = [problem for problem in problems(text, minor=minor) if problem.code == "PL-B013"]
        told = f"'{what}' is not supported in version cloudify_dsl_1_{minor}, it was added in cloudify_dsl_1_{since}"
        assert [problem.message for problem in found] == ([told] if minor < since else [])
        assert {problem.cloudify_code for problem in found} <= {102}


@pytest.mark.parametrize(
    "text",
    [
        "inputs: {i: {}}",
        "outputs: {o: {value: 1}}",
        "capabilities: {c: {value: 1}}",
        "metadata: {a: 1}",
        "node_types: {t: {derived_from: cloudify.nodes.Root}}",
        "relationships: {r: {derived_from: cloudify.relationships.depends_on}}",
        "groups: {}",
        "policy_types: {}",
        "policy_triggers: {}",
        "labels: {}",
        "blueprint_labels: {}",
        "deployment_settings: {}",
        "workflows: {}",
        "node_templates: {n: {type: cloudify.nodes.Root, interfaces: {a: {b: {timeout: 1, timeout_recoverable: true}}}}}",
    ],
)
def test_b04_everything_else_is_there_from_the_first_version_on(text: str) -> None:
    assert "PL-B013" not in codes(text, minor=0)


@pytest.mark.parametrize(
    ("section", "one", "other"),
    [
        ("inputs", "a: {}", "b: {}"),
        ("outputs", "a: {value: 1}", "b: {value: 1}"),
        ("capabilities", "a: {value: 1}", "b: {value: 1}"),
        ("node_templates", "a: {type: cloudify.nodes.Root}", "b: {type: cloudify.nodes.Root}"),
        ("labels", "a: {values: [x]}", "b: {values: [x]}"),
        ("blueprint_labels", "a: {values: [x]}", "b: {values: [x]}"),
    ],
)
def test_b04_some_sections_stand_in_several_files_from_1_3_on(section: str, one: str, other: str) -> None:
    text = f"imports: [cloudify/types/types.yaml, more.yaml]\n{section}: {{{one}}}\n"
    others = {"more.yaml": f"{section}: {{{other}}}\n"}
    assert numbers(text, minor=2, others=others) == [3]
    assert numbers(text, minor=3, others=others) == []


def test_b05_an_unknown_key_is_1_and_the_right_one_is_suggested() -> None:
    (found,) = problems("node_templates: {web: {type: cloudify.nodes.Root, propertiez: {}}}")
    assert (found.cloudify_code, found.mend) == (1, "did you mean 'properties'?")


def test_b05_interfaces_at_top_level_are_an_error() -> None:
    assert codes("interfaces: {}") == ["PL-B014"]


def test_b05_a_missing_key_and_a_wrong_form_are_1() -> None:
    assert numbers("outputs: {url: {}, port: 80}") == [1, 1]


def test_b05_upload_resources_is_checked_and_has_no_effect() -> None:
    good = "upload_resources: {plugin_resources: [a.zip], parameters: {fetch_timeout: 5}}"
    assert [warning.code for warning in read(good).warnings] == ["PL-B018"]
    assert codes("upload_resources: {dsl_resources: [{source_path: a}]}") == ["PL-B016"]


def test_b05_what_is_wrong_in_one_template_hides_nothing_in_another() -> None:
    text = """
    node_templates:
      a: {type: cloudify.nodes.Root, colour: red, properties: {wrong: 1}}
      b: {type: cloudify.nodes.Nothing}
      c: 5
      d:
        type: cloudify.nodes.Root
        relationships: [{type: cloudify.relationships.connected_to, target: c}]
    """
    assert codes(text) == ["PL-B014", "PL-B035", "PL-B030", "PL-B015"]


def test_b06_the_same_import_twice_is_2() -> None:
    assert numbers("imports: [a.yaml, a.yaml]", others={"a.yaml": "inputs: {}"}) == [2]


def test_b06_imports_in_a_circle_are_harmless_and_read_once() -> None:
    source = Texts(
        {MAIN: whole("imports: [a.yaml]"), "a.yaml": "imports: [b.yaml]", "b.yaml": f"imports: [a.yaml, {MAIN}]"}
    )
    read_blueprint(MAIN, source)
    assert source.reads == [MAIN, "a.yaml", "b.yaml"]


def test_b06_traversal_is_breadth_first() -> None:
    files = {
        MAIN: whole("imports: [a.yaml, b.yaml]"),
        "a.yaml": "imports: [c.yaml]",
        "b.yaml": "imports: [d.yaml]",
        "c.yaml": "inputs: {}",
        "d.yaml": "inputs: {}",
    }
    source = Texts(files)
    read_blueprint(MAIN, source)
    assert source.reads == [MAIN, "a.yaml", "b.yaml", "c.yaml", "d.yaml"]


def test_b06_a_name_is_relative_to_the_importing_file() -> None:
    others = {"parts/a.yaml": "imports: [b.yaml]", "parts/b.yaml": "inputs: {port: {default: 1}}"}
    assert "port" in read("imports: [parts/a.yaml]", others=others).inputs


def test_b06_a_sibling_for_the_version_of_the_main_file_is_taken_first() -> None:
    others = {"a.yaml": "inputs: {plain: {default: 1}}", "a_1_3.yaml": "inputs: {for_1_3: {default: 1}}"}
    assert list(read("imports: [a.yaml]", minor=3, others=others).inputs) == ["for_1_3"]
    assert list(read("imports: [a.yaml]", minor=4, others=others).inputs) == ["plain"]


def test_b06_nothing_found_is_13() -> None:
    assert numbers("imports: [nothing.yaml]") == [13]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ftp://example.org/x.yaml", "PL-B029"),
        ("plugin:x", "PL-B092"),
        ("ns--blueprint:x", "PL-B091"),
        ("ns--a.yaml", "PL-B020"),
    ],
)
def test_b06_an_import_that_leads_nowhere_is_told_in_the_way_of_its_kind(name: str, code: str) -> None:
    (found,) = problems(f"imports: [{name!r}]", minor=5)
    assert (found.code, found.cloudify_code) == (code, 13)


def test_b06_a_plugin_is_imported_by_its_name_version_and_distribution() -> None:
    files = {
        "plugins/aws>=3,<4Ubuntu.yaml": "inputs: {a: {default: 1}}",
        "plugins/gcp.yaml": "inputs: {b: {default: 1}}",
    }
    blueprint = read("imports: ['plugin:aws?version=>=3,<4&distribution=Ubuntu', 'plugin:gcp']", others=files)
    assert set(blueprint.inputs) == {"a", "b"}


def test_b06_files_of_the_web_import_others_beside_them_and_none_of_this_machine() -> None:
    others = {
        "http://h/a/main.yaml?x=1": "imports: [beside.yaml, ../up.yaml, /top.yaml, ./beside.yaml, ../../../up.yaml]",
        "http://h/a/beside.yaml": "inputs: {beside: {default: 1}}",
        "http://h/up.yaml": "imports: [cloudify/types/types.yaml]\ninputs: {up: {default: 1}}",
        "http://h/top.yaml": "imports: [a/beside.yaml]\ninputs: {top: {default: 1}}",
        "beside.yaml": "inputs: {of_this_machine: {default: 1}}",
    }
    assert list(read("imports: ['http://h/a/main.yaml?x=1']", others=others).inputs) == ["beside", "up", "top"]


def test_b06_what_else_a_file_of_the_web_imports_is_refused_as_everywhere() -> None:
    others = {"http://h/main.yaml": "imports: ['plugin:x', ns--a.yaml, nothing.yaml]"}
    assert codes("imports: ['http://h/main.yaml']", others=others) == ["PL-B092", "PL-B020", "PL-B020"]


@pytest.mark.parametrize("host", ["getcloudify.org", "www.getcloudify.org", "cloudify.co", "www.cloudify.co"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_b06a_built_in_types_are_known_by_every_public_address(scheme: str, host: str) -> None:
    text = f"imports: ['{scheme}://{host}/spec/cloudify/6.3.0/types.yaml']\n{NODE}"
    assert "postdelete" in operations_of_root(text, 4)


def operations_of_root(text: str, minor: int) -> set[str]:
    blueprint = read(text, minor=minor)
    return {name.rpartition(".")[2] for name in blueprint.nodes["web"].operations}


@pytest.mark.parametrize(
    ("release", "minor"),
    [
        ("3.0", 0),
        ("3.1", 0),
        ("3.2.1", 1),
        ("3.2", 0),
        ("3.3", 2),
        ("3.3.1", 3),
        ("3.4", 3),
        ("3.4.2", 3),
        ("4.0", 3),
        ("4.5.5", 4),
    ],
)
def test_b06a_older_releases_have_their_own_types(release: str, minor: int) -> None:
    text = f"imports: ['http://www.getcloudify.org/spec/cloudify/{release}/types.yaml']\n{NODE}"
    found = operations_of_root(text, minor)
    assert {"create", "configure", "start", "stop", "delete"} <= found
    assert "postdelete" not in found


@pytest.mark.parametrize("release", ["5.0.5", "5.1.0", "6.4.0", "7.0.0.dev1"])
@pytest.mark.parametrize("minor", [3, 4, 5])
def test_b06a_releases_from_5_on_fit_the_version_of_the_main_file(release: str, minor: int) -> None:
    assert codes(f"imports: ['https://cloudify.co/spec/cloudify/{release}/types.yaml']\n{NODE}", minor=minor) == []


@pytest.mark.parametrize("name", ["types.yaml", "types_1_3.yaml", "types_1_4.yaml"])
def test_b06a_the_variants_can_be_named(name: str) -> None:
    assert codes(f"imports: [cloudify/types/{name}]\n{NODE}", minor=5) == []


def test_b10_only_the_version_is_required() -> None:
    assert read("", types=False).nodes == {}


def test_b27_dsl_definitions_and_metadata_are_free() -> None:
    found = read("dsl_definitions: [1, {a: b}]\nmetadata: {any: [thing]}")
    assert found.metadata == {"any": ["thing"]}
