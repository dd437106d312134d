"""Whatever a file contains, reading it ends with a blueprint or with problems."""

import json
from random import Random

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dsl.readers import MAIN, Texts, whole

from phaseline.dsl.deploying import with_inputs
from phaseline.dsl.documents import read_document
from phaseline.dsl.grammar import BLUEPRINT
from phaseline.dsl.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.report import Report
from phaseline.dsl.shapes import Each, Leaf, Rows, Table
from phaseline.model.problem import ProblemsError
from phaseline.model.rendering import render_problem

NAMES = [
    "a",
    "b",
    "web",
    "cloudify.nodes.Root",
    "cloudify.nodes.Compute",
    "cloudify.relationships.contained_in",
    "integer",
]
FUNCTIONS = ["get_input", "get_property", "get_attribute", "concat", "merge", "type"]


class Garbler:
    """Values that mostly have the shape they should have, so that the garbage gets deep into the reader."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def value(self, depth: int = 0) -> object:
        draw = self.random
        kind = draw.randrange(12 if depth < 3 else 8)
        if kind < 8:
            return draw.choice([None, True, 0, -2, 2.5, "", draw.choice(NAMES), draw.choice(NAMES)])
        if kind == 8:
            return [self.value(depth + 1) for _ in range(draw.randrange(4))]
        if kind == 9:
            return {
                draw.choice(FUNCTIONS): draw.choice(
                    [draw.choice(NAMES), draw.choices([*NAMES, "SELF", 0], k=draw.randrange(4))]
                )
            }
        return {draw.choice(NAMES): self.value(depth + 1) for _ in range(draw.randrange(4))}

    def shaped(self, shape: object) -> object:
        draw = self.random
        if draw.random() < 0.05:
            return self.value()
        if isinstance(shape, Table):
            return {
                name: self.shaped(key.shape)
                for name, key in shape.keys.items()
                if key.is_required or draw.random() < 0.4
            }
        if isinstance(shape, Each):
            return {draw.choice(NAMES): self.shaped(shape.of) for _ in range(draw.randrange(4))}
        if isinstance(shape, Rows):
            return [self.shaped(shape.of) for _ in range(draw.randrange(3))]
        assert isinstance(shape, Leaf)
        if shape.types is None:
            return self.value()
        ways: dict[type, object] = {
            str: draw.choice(NAMES),
            bool: True,
            int: draw.randrange(-2, 3),
            float: 0.5,
            dict: {draw.choice(NAMES): self.value()},
            list: [self.value()],
        }
        return ways[draw.choice(sorted(shape.types, key=str))]


def try_reading(text: str) -> None:
    try:
        blueprint = read_blueprint(MAIN, Texts({MAIN: text}))
        with_inputs(blueprint, complete_inputs(blueprint, {}))
        return
    except ProblemsError as error:
        found = error.problems
    assert found
    for problem in found:
        assert problem.message
        assert problem.mend
        assert render_problem(problem)


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_mappings_that_look_like_blueprints_give_blueprints_or_problems(seed: int) -> None:
    value = Garbler(seed).shaped(BLUEPRINT)
    if isinstance(value, dict):
        value = {"imports": ["cloudify/types/types.yaml"], **value, "tosca_definitions_version": "cloudify_dsl_1_4"}
    try_reading(json.dumps(value))


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_gives_a_blueprint_or_problems(text: str) -> None:
    try_reading(text)
    try_reading(whole(text.replace("tosca", ""), types=False))


@given(
    st.lists(
        st.sampled_from(
            [
                "a: ",
                "- ",
                "{",
                "}",
                "[",
                "]",
                "&x ",
                "*x ",
                "<<: ",
                "? ",
                "\n",
                "\n  ",
                "b",
                "'",
                '"',
                "!!int ",
                "|\n",
                "---\n",
                "\t",
                "#",
            ]
        ),
        max_size=25,
    ).map("".join)
)
@settings(max_examples=300)
def test_pieces_of_yaml_give_a_blueprint_or_problems(text: str) -> None:
    try_reading(text)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
        max_leaves=15,
    )
)
def test_what_yaml_writes_is_read_as_the_loader_reads_it(value: object) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)
    document = read_document("x.yaml", text, Report())
    assert document is not None
    assert document.root == yaml.safe_load(text)
