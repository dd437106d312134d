"""B30-B33: operations, their mappings, how they override one another, their names."""

import pytest
from tests.dsl.readers import codes, numbers, problems, read

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.model.blueprint.blueprint import Operation
from phaseline.model.problems.problem import ProblemsError

PLUGINS = """
plugins:
  p: {executor: central_deployment_agent, install: false}
  h: {executor: host_agent, install: false}
"""


def operation(text: str, *, kind: str | None = None, scripts: tuple[str, ...] = ()) -> Operation:
    """The operation i.run of a template that says ``text``, of a type that says ``kind``."""
    interfaces = f"interfaces: {{i: {{run: {kind}}}}}" if kind is not None else ""
    blueprint = read(_blueprint(text, interfaces), scripts=scripts)
    return blueprint.nodes["n"].operations["i.run"]


def _blueprint(text: str, interfaces: str = "") -> str:
    own = f", interfaces: {{i: {{run: {text}}}}}" if text else ""
    return f"{PLUGINS}\nnode_types:\n  t:\n    derived_from: cloudify.nodes.Compute\n    {interfaces}\nnode_templates:\n  n: {{type: t{own}}}\n"


def wrong(text: str, kind: str | None = None) -> list[int | None]:
    interfaces = f"interfaces: {{i: {{run: {kind}}}}}" if kind is not None else ""
    return numbers(_blueprint(text, interfaces))


def test_b30_text_and_mapping_mean_the_same() -> None:
    assert operation("p.m.f") == operation("{implementation: p.m.f}")


def test_b30_all_fields_are_read() -> None:
    found = operation(
        "{implementation: p.m.f, inputs: {a: 1}, executor: host_agent, max_retries: -1, retry_interval: 0.5, timeout: 10, timeout_recoverable: true}"
    )
    assert found == Operation("i.run", "function", "p", "m.f", {"a": 1}, "host_agent", -1, 0.5, 10.0, True)


@pytest.mark.parametrize("text", ["{}", "''", "{implementation: ''}", "~"])
def test_b30_nothing_is_a_no_op(text: str) -> None:
    assert not operation(text).is_implemented


@pytest.mark.parametrize(
    "field",
    [
        "max_retries: -2",
        "max_retries: 1.5",
        "retry_interval: -1",
        "timeout: -1",
        "timeout: soon",
        "timeout_recoverable: 1",
    ],
)
def test_b30_numbers_out_of_range_are_1(field: str) -> None:
    assert wrong(f"{{implementation: p.m.f, {field}}}") == [1]


def test_b30_a_bad_executor_is_28() -> None:
    assert wrong("{implementation: p.m.f, executor: moon}") == [28]


def test_b31_a_url_is_a_script() -> None:
    found = operation("'https://example.org/a.sh'")
    assert (found.form, found.plugin, found.implementation, found.executor) == (
        "script",
        "script",
        "https://example.org/a.sh",
        "auto",
    )


def test_b31_a_file_beside_the_blueprint_is_a_script_before_it_is_a_function() -> None:
    found = operation("p.m.f", scripts=("p.m.f",))
    assert (found.form, found.implementation) == ("script", "p.m.f")


def test_b31_text_with_line_breaks_is_an_inline_script() -> None:
    found = operation('"  echo 1\\n  echo 2\\n"')
    assert (found.form, found.implementation) == ("inline", "echo 1\necho 2\n")


def test_b31_a_plugins_function_takes_the_plugins_executor() -> None:
    found = operation("h.module.deep.f")
    assert (found.form, found.plugin, found.implementation, found.executor) == (
        "function",
        "h",
        "module.deep.f",
        "host_agent",
    )


def test_b31_what_fits_nothing_is_10_for_nodes_and_19_for_relationships() -> None:
    assert wrong("nothing.m.f") == [10]
    assert wrong("scripts/missing.sh") == [10]
    text = """
    node_templates:
      a: {type: cloudify.nodes.Root}
      b:
        type: cloudify.nodes.Root
        relationships:
          - type: cloudify.relationships.connected_to
            target: a
            source_interfaces: {i: {run: nothing.m.f}}
    """
    assert numbers(text) == [19]


def test_b31_two_plugins_that_fit_are_91() -> None:
    text = """
    plugins:
      a: {executor: host_agent, install: false}
      a.b: {executor: host_agent, install: false}
    node_templates: {n: {type: cloudify.nodes.Root, interfaces: {i: {run: a.b.c.d}}}}
    """
    assert numbers(text) == [91]


def test_b31_a_script_that_is_given_its_own_input_is_60() -> None:
    assert numbers(_blueprint('{implementation: "a\\nb", inputs: {script_path: x}}')) == [60]
    assert numbers(_blueprint('{implementation: "a\\nb", inputs: {script_source: x}}')) == [60]
    assert codes(_blueprint("{implementation: script.script_runner.tasks.run, inputs: {script_path: x}}")) == []


def test_b31_a_script_without_the_plugin_script_is_61() -> None:
    text = 'node_types: {t: {}}\nnode_templates: {n: {type: t, interfaces: {i: {run: "a\\nb"}}}}'
    assert numbers(text, types=False) == [61]


def test_b32_a_child_type_replaces_the_parents_operation_whole() -> None:
    text = f"""{PLUGINS}
node_types:
  parent: {{interfaces: {{i: {{run: {{implementation: p.m.f, inputs: {{a: {{default: 1}}}}}}, stay: p.m.g}}}}}}
  child: {{derived_from: parent, interfaces: {{i: {{run: {{executor: host_agent}}}}}}}}
node_templates: {{n: {{type: child}}}}
"""
    found = read(text).nodes["n"].operations
    assert not found["i.run"].is_implemented
    assert found["i.stay"].implementation == "m.g"


TYPE = "{implementation: p.m.f, inputs: {a: {default: 1}, b: {}}, max_retries: 3, timeout: 9, executor: host_agent}"


def test_b32_an_empty_implementation_in_the_template_means_the_types() -> None:
    found = operation("{inputs: {b: 2}, max_retries: 5}", kind=TYPE)
    assert (found.implementation, found.inputs, found.max_retries) == ("m.f", {"a": 1, "b": 2}, 5)
    assert (found.timeout_s, found.executor) == (9.0, "host_agent")


def test_b32_the_same_implementation_merges_as_well() -> None:
    found = operation("{implementation: p.m.f, inputs: {b: 2, extra: 3}}", kind=TYPE)
    assert (found.inputs, found.max_retries) == ({"a": 1, "b": 2, "extra": 3}, 3)


def test_b32_another_implementation_has_only_its_own_fields() -> None:
    found = operation("{implementation: p.m.other, inputs: {c: 1}}", kind=TYPE)
    assert (found.implementation, found.inputs, found.max_retries, found.executor) == (
        "m.other",
        {"c": 1},
        None,
        "central_deployment_agent",
    )


def test_b32_an_input_without_value_is_107() -> None:
    (found,) = problems(_blueprint("{inputs: {a: 2}}", f"interfaces: {{i: {{run: {TYPE}}}}}"))
    assert (found.cloudify_code, found.message) == (107, "input 'b' of 'i.run' is missing a value")
    assert wrong("", TYPE) == [107]


def test_b32_an_input_that_is_not_required_may_be_left_out() -> None:
    kind = "{implementation: p.m.f, inputs: {a: {required: false}, b: {type: integer, required: false}}}"
    assert operation("{}", kind=kind).inputs == {}
    assert operation("{inputs: {b: 2}}", kind=kind).inputs == {"b": 2}


def test_b32_literals_for_a_typed_input_are_taken_as_they_are_written() -> None:
    kind = "{implementation: p.m.f, inputs: {a: {type: integer, default: 1}, d: {type: dict, default: {}}}}"
    assert operation("{inputs: {a: text, d: {x: 1}}}", kind=kind).inputs == {"a": "text", "d": {"x": 1}}
    assert wrong("{}", "{implementation: p.m.f, inputs: {a: {type: integer, default: text}}}") == [105]


def test_b32_functions_for_a_typed_input_have_its_type_beside_them() -> None:
    kind = "{implementation: p.m.f, inputs: {a: {type: integer, default: 1}, b: {}}}"
    found = operation("{inputs: {a: {concat: ['1']}, b: {concat: [x]}}}", kind=kind).inputs
    assert found == {"a": {"concat": ["1"], "type": "integer"}, "b": {"concat": ["x"]}}


@pytest.mark.parametrize("given", ["", "{inputs: {b: 1}}", "p.m.f"])
def test_b32_functions_in_a_types_own_defaults_have_the_inputs_type_beside_them(given: str) -> None:
    kind = (
        "{implementation: p.m.f, inputs: {a: {type: integer, default: {concat: ['1']}}, b: {default: {concat: [x]}}}}"
    )
    found = operation(given, kind=kind).inputs
    assert found["a"] == {"concat": ["1"], "type": "integer"}
    assert found["b"] == (1 if "b" in given else {"concat": ["x"]})


def test_b32_a_function_in_a_types_own_default_is_checked_once_it_is_known() -> None:
    kind = "{implementation: p.m.f, inputs: {a: {type: integer, default: {get_input: x}}, b: {default: 1}}}"
    text = _blueprint("{inputs: {b: 2}}", f"interfaces: {{i: {{run: {kind}}}}}")
    blueprint = read(f"inputs: {{x: {{}}}}\n{text}")
    assert with_inputs(blueprint, {"x": 5}).nodes["n"].operations["i.run"].inputs["a"] == 5
    with pytest.raises(ProblemsError) as caught:
        with_inputs(blueprint, {"x": "text"})
    assert [problem.code for problem in caught.value.problems] == ["PL-B074"]


@pytest.mark.parametrize(
    "inputs", ["{a: {get_input: nowhere}}", "{a: {get_property: web}}", "{a: {get_attribute: [SOURCE, x]}}"]
)
def test_b30_inputs_of_what_is_mapped_to_nothing_are_asked_nothing_and_dropped(inputs: str) -> None:
    found = operation(f"{{inputs: {inputs}}}")
    assert found == Operation("i.run")
    assert operation("", kind=f"{{inputs: {inputs.replace('a: ', 'a: {default: ').replace('}}', '}}}')}}}") == found


@pytest.mark.parametrize("kind", [None, "{executor: nobody}"])
def test_b30_the_executor_of_what_is_mapped_to_nothing_is_28(kind: str | None) -> None:
    assert wrong("" if kind else "{executor: nobody}", kind) == [28]


@pytest.mark.parametrize("text", ["{}", "''"])
def test_b32_a_no_op_in_the_template_is_a_no_op(text: str) -> None:
    assert not operation(text, kind="p.m.f").is_implemented


def test_b32_over_a_no_op_of_the_type_the_templates_counts() -> None:
    assert operation("p.m.f", kind="{}").implementation == "m.f"


def test_b32_relationships_override_as_templates_do() -> None:
    text = f"""{PLUGINS}
relationships:
  mine:
    derived_from: cloudify.relationships.connected_to
    source_interfaces: {{i: {{run: {TYPE}}}}}
node_templates:
  a: {{type: cloudify.nodes.Root}}
  b:
    type: cloudify.nodes.Compute
    relationships:
      - {{type: mine, target: a, source_interfaces: {{i: {{run: {{inputs: {{b: 7}}}}}}}}}}
"""
    found = read(text).nodes["b"].relationships[0].source_operations["i.run"]
    assert (found.implementation, found.inputs) == ("m.f", {"a": 1, "b": 7})


def test_b33_a_bare_name_is_known_while_it_is_unique() -> None:
    text = f"{PLUGINS}\nnode_templates: {{n: {{type: cloudify.nodes.Root, interfaces: {{i: {{run: p.m.f, stop: p.m.g}}}}}}}}"
    node = read(text).nodes["n"]
    run = node.find_operation("run")
    assert run is not None
    assert run.name == "i.run"
    assert node.find_operation("stop") is None
    assert node.find_operation("i.stop") is node.operations["i.stop"]
    assert node.find_operation("nothing") is None


@pytest.mark.parametrize("default", ["{get_attribute: [nowhere, b]}", "{get_input: nothing}"])
def test_b32_a_default_of_a_type_is_looked_at_where_a_template_leaves_it_and_gives_others(default: str) -> None:
    def said(given: str) -> list[str]:
        return codes(f"""
            plugins: {{p: {{executor: central_deployment_agent, install: false}}}}
            node_types:
              T:
                derived_from: cloudify.nodes.Root
                interfaces:
                  x.y: {{go: {{implementation: p.m.go, inputs: {{a: {{default: {default}}}, c: {{default: 1}}}}}}}}
            node_templates:
              n: {{type: T, interfaces: {{x.y: {{go: {{inputs: {given}}}}}}}}}
        """)

    assert len(said("{c: 2}")) == 1
    assert said("{c: 2, a: 5}") == []
