"""Section 15: for every number of the ancestor a blueprint that has it, with the ancestor's class."""

import pytest
from tests.dsl.readers import MAIN, Texts, problems, whole

from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.text.cloudify_errors import ANCESTOR
from phaseline.model.problems.codes import CODES
from phaseline.model.problems.problem import Problem, ProblemsError

FORMAT, LOGIC = "DSLParsingFormatException", "DSLParsingLogicException"
ROOT = "cloudify.nodes.Root"
P = "plugins: {p: {executor: central_deployment_agent, install: false}}\n"
N = f"node_templates: {{n: {{type: {ROOT}}}, m: {{type: {ROOT}}}}}\n"
DEPENDS = "cloudify.relationships.depends_on"


def template(rest: str) -> str:
    return f"node_templates:\n  m: {{type: {ROOT}}}\n  n:\n    type: {ROOT}\n    {rest}\n"


def related(item: str) -> str:
    return template(f"relationships: [{item}]")


def mapped(implementation: str, more: str = "") -> str:
    return template(
        f"interfaces: {{i: {{o: {{implementation: {implementation}, executor: central_deployment_agent{more}}}}}}}"
    )


def declared(schema: str) -> str:
    return f"inputs: {{i: {schema}}}\n"


def scaled(groups: str, policies: str) -> str:
    return N + f"groups: {groups}\npolicies: {policies}\n"


SCALING = "type: cloudify.policies.scaling"
APART = f"""
node_templates:
  a: {{type: cloudify.nodes.Compute}}
  b: {{type: cloudify.nodes.Compute}}
  x: {{type: {ROOT}, relationships: [{{type: cloudify.relationships.contained_in, target: a}}]}}
  y: {{type: {ROOT}, relationships: [{{type: cloudify.relationships.contained_in, target: b}}]}}
groups: {{g: {{members: [x, y]}}}}
policies: {{s: {{{SCALING}, targets: [g]}}}}
"""
ROWS = [
    (-1, FORMAT, "inputs: ["),
    (1, FORMAT, "inputs: {a: {defualt: 1}}"),
    (1, FORMAT, "inputs: 5"),
    (1, FORMAT, "outputs: {a: {}}"),
    (1, FORMAT, N + "groups: {g: {members: []}}"),
    (1, "DSLParsingException", "blueprint_labels: {a: {values: [{get_input: i}]}}"),
    (2, FORMAT, "imports: [a.yaml, a.yaml]"),
    (3, LOGIC, "imports: [a.yaml]\npolicies: {}"),
    (4, LOGIC, "imports: [a.yaml]\ninputs: {twice: {}}"),
    (7, LOGIC, "node_templates: {n: {type: nothing}}"),
    (10, LOGIC, mapped("nothing")),
    (13, LOGIC, "imports: [nothing.yaml]"),
    (18, LOGIC, "plugins: {p: {executor: nobody, install: false}}"),
    (19, LOGIC, related(f"{{type: {DEPENDS}, target: m, source_interfaces: {{i: {{o: nothing}}}}}}")),
    (21, LOGIC, "workflows: {w: nothing}"),
    (23, LOGIC, related(f"{{type: {DEPENDS}, target: n}}")),
    (24, LOGIC, "plugins: {h: {executor: host_agent, install: false}}\n" + template("interfaces: {i: {o: h.a.b}}")),
    (25, LOGIC, related(f"{{type: {DEPENDS}, target: nobody}}")),
    (26, LOGIC, related("{type: nothing, target: m}")),
    (27, LOGIC, "#none\ninputs: {}"),
    (28, LOGIC, "imports: [high.yaml]"),
    (28, LOGIC, P + template("interfaces: {i: {o: {implementation: p.a.b, executor: nobody}}}")),
    (29, LOGIC, "tosca_definitions_version: cloudify_dsl_1_9\n"),
    (40, LOGIC, N + "groups: {g: {members: [nobody]}}"),
    (41, LOGIC, N + "groups: {g: {members: [n], policies: {a: {type: nothing}}}}"),
    (42, LOGIC, N + "policy_types: {t: {source: a.py}}\ngroups: {g: {members: [n], policies: {a: {type: t, triggers: {b: {type: nothing}}}}}}"),
    (50, LOGIC, "plugins: {p: {executor: central_deployment_agent}}"),
    (60, LOGIC, mapped("https://h/a.sh", ", inputs: {script_path: a}")),
    (61, LOGIC, "#bare\nnode_types: {t: {}}\nnode_templates: {n: {type: t, interfaces: {i: {o: 'https://h/a.sh'}}}}"),
    (71, LOGIC, "tosca_definitions_version: ''\n"),
    (72, LOGIC, "tosca_definitions_version: 5\n"),
    (73, LOGIC, "tosca_definitions_version: other_1_0\n"),
    (74, LOGIC, "tosca_definitions_version: cloudify_dsl_a_0\n"),
    (75, LOGIC, "tosca_definitions_version: cloudify_dsl_1_a\n"),
    (76, LOGIC, "tosca_definitions_version: cloudify_dsl_1_0_a\n"),
    (91, LOGIC, P.replace("{p:", "{'p.q': {executor: host_agent, install: false}, p:") + mapped("p.q.r.s")),
    (100, LOGIC, "node_types: {a: {derived_from: b}, b: {derived_from: a}}"),
    (100, LOGIC, "data_types: {a: {properties: {x: {type: a}}}}"),
    (102, LOGIC, "inputs: {a: {type: operation_name}}"),
    (103, LOGIC, declared("{type: nothing}")),
    (103, LOGIC, "node_types: {a: {derived_from: nothing}}"),
    (103, LOGIC, declared("{constraints: [{nothing: 1}]}")),
    (104, LOGIC, "data_types: {string: {}}"),
    (105, LOGIC, declared("{type: integer, default: a}")),
    (106, LOGIC, template("properties: {nothing: 1}")),
    (107, LOGIC, f"node_types: {{t: {{properties: {{a: {{}}}}}}}}\nnode_templates: {{n: {{type: t}}}}"),  # noqa: F541
    (112, LOGIC, related("{type: cloudify.relationships.contained_in, target: m}, {type: cloudify.relationships.contained_in, target: m}")),
    (200, LOGIC, scaled("{g: {members: [h]}, h: {members: [g]}}", f"{{s: {{{SCALING}, targets: [g, h]}}}}")),
    (201, LOGIC, scaled("{g: {members: [n]}, h: {members: [n]}}", f"{{s: {{{SCALING}, targets: [g, h]}}}}")),
    (202, LOGIC, APART),
    (204, LOGIC, scaled("{g: {members: [n]}}", "{s: {type: nothing, targets: [g]}}")),
    (205, LOGIC, scaled("{g: {members: [n]}}", f"{{s: {{{SCALING}, targets: [n]}}}}")),
    (206, LOGIC, scaled("{g: {members: [n]}}", f"{{s: {{{SCALING}, targets: []}}}}")),
    (207, LOGIC, template("capabilities: {scalable: {properties: {default_instances: -1}}}")),
    (208, LOGIC, template("capabilities: {scalable: {properties: {max_instances: MANY}}}")),
    (209, LOGIC, template("instances: {deploy: 1}\n    capabilities: {scalable: {}}")),
    (210, LOGIC, template("capabilities: {scalable: {properties: {default_instances: {a: 1}}}}")),
    (211, LOGIC, N + "groups: {n: {members: [m]}}"),
    (212, LOGIC, declared("{constraints: [{in_range: 5}]}")),
    (212, LOGIC, "imports: [a--b--a.yaml]"),
    (213, "DSLParsingException", declared("{constraints: [{length: 5}], default: {get_secret: a}}")),
    (213, LOGIC, "imports: ['blueprint:a']"),
    (214, LOGIC, "imports: [a--cloudify/types/types.yaml]"),
    (215, LOGIC, declared("{hidden: true}")),
    (215, LOGIC, related("{type: cloudify.relationships.depends_on_lifecycle_operation, target: m}")),
    (216, "DSLParsingInputTypeException", declared("{display: {rows: 5}}")),
    (216, LOGIC, related("{type: cloudify.relationships.depends_on_lifecycle_operation, target: m, properties: {operation: create}}")),
    (217, LOGIC, "data_types: {d: {}}\n" + declared("{type: list, item_type: d}")),
    (218, LOGIC, declared("{type: string, item_type: string}")),
    (219, LOGIC, template("properties: {use_external_resource: {get_input: i}}") + declared("{default: true}")),
    (220, FORMAT, "#1_5\nimports: [{a.yaml: {}, b.yaml: {}}]"),
    (221, LOGIC, "#1_5\nimports: [a.yaml: {nothing: 1}]"),
]  # fmt: skip
OTHERS = {
    "a.yaml": "policies: {}\ninputs: {twice: {}}\n",
    "high.yaml": "tosca_definitions_version: cloudify_dsl_1_5\n",
}
NOT_IN_A_FILE = {30, 108}
"""30 is told of the main file's own path (below); 108, text that is not ASCII, is no error here."""
SECTION_15 = {-1, 1, 2, 3, 4, 7, 10, 13, 18, 19, 21, *range(23, 31), 40, 41, 42, 50, 60, 61, *range(71, 77), 91, 100}
SECTION_15 |= {*range(102, 109), 112, 200, 201, 202, *range(204, 222)}


def found_in(text: str) -> tuple[Problem, ...]:
    first = text.partition("\n")[0]
    if first == "#none":
        text = "inputs: {}"
        try:
            read_blueprint(MAIN, Texts({MAIN: text}))
        except ProblemsError as error:
            return error.problems
    minor, types = (5 if first == "#1_5" else 4), first != "#bare"
    if "imports:" in text and "cloudify/types" not in text and types:
        text = text.replace("imports: [", "imports: [cloudify/types/types.yaml, ", 1)
    return problems(text, minor=minor, types=types, others=OTHERS)


@pytest.mark.parametrize(
    ("number", "kind", "text"), ROWS, ids=[f"{number}-{place}" for place, (number, *_) in enumerate(ROWS)]
)
def test_s15_each_number_of_the_ancestor_with_its_class(number: int, kind: str, text: str) -> None:
    found = [(problem.cloudify_code, problem.cloudify_class) for problem in found_in(text)]
    assert (number, kind) in found
    assert {code for code, _ in found} == {number}


@pytest.mark.parametrize("text", [row[2] for row in ROWS if row[0] not in {27, -1}])
def test_s15_each_has_file_line_and_column(text: str) -> None:
    for problem in found_in(text):
        assert problem.place.file
        assert problem.place.line > 0
        assert problem.place.column > 0


def test_s15_the_main_file_that_is_not_there_is_30() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint("nothing.yaml", Texts({}))
    assert [(problem.cloudify_code, problem.cloudify_class) for problem in caught.value.problems] == [(30, LOGIC)]


def test_s15_text_that_is_not_ascii_is_no_error() -> None:
    assert problems("inputs: {größe: {default: 中}}") == ()


def test_s15_values_of_inputs_have_214_and_the_classes_without_number() -> None:
    blueprint = read_blueprint(MAIN, Texts({MAIN: whole(declared("{type: integer}"))}))
    for given, number, kind in (
        ({"i": "a"}, 214, "DSLParsingException"),
        ({}, None, "MissingRequiredInputError"),
        ({"i": 1, "j": 2}, None, "UnknownInputError"),
    ):
        with pytest.raises(ProblemsError) as caught:
            complete_inputs(blueprint, given)  # type: ignore[arg-type]  # values of several types
        assert [(problem.cloudify_code, problem.cloudify_class) for problem in caught.value.problems] == [
            (number, kind)
        ]


def test_s15_no_number_of_the_table_is_without_a_blueprint() -> None:
    assert {row[0] for row in ROWS} | NOT_IN_A_FILE == SECTION_15


def test_s15_every_code_of_the_language_says_what_the_ancestor_would_have_raised() -> None:
    ours_alone = {"PL-B002", "PL-B003", "PL-B007", "PL-B008", "PL-B021", "PL-B026", "PL-B047"}
    ours_alone |= {"PL-B018", "PL-B027", "PL-B084", "PL-B085"}  # warnings
    ours_alone |= {code for code in CODES if "PL-B110" <= code <= "PL-B149"}  # our own language and tools
    silent = {code for code in CODES if code.startswith("PL-B")} - ANCESTOR.keys() - ours_alone
    assert not silent
