"""Whatever a file contains, reading it ends with a blueprint or with problems."""

from random import Random

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dsl.garbling import Garbler, try_reading
from tests.dsl.readers import MAIN, whole

from phaseline.dsl.text.document import read_document
from phaseline.dsl.text.problem_report import ProblemReport


@given(st.integers(0, 2**32))
@settings(max_examples=120)
def test_mappings_that_look_like_blueprints_give_blueprints_or_problems(seed: int) -> None:
    try_reading(Garbler(Random(seed)).files())


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_gives_a_blueprint_or_problems(text: str) -> None:
    try_reading({MAIN: text})
    try_reading({MAIN: whole(text.replace("tosca", ""), types=False)})


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
    try_reading({MAIN: text})


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
        max_leaves=15,
    )
)
def test_what_yaml_writes_is_read_as_the_loader_reads_it(value: object) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)
    document = read_document("x.yaml", text, ProblemReport())
    assert document is not None
    assert document.root == yaml.safe_load(text)
