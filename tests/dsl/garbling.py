"""Blueprints of garbage: values that mostly have the shape they should have, so that they get deep into the reader."""

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from tests.dsl.readers import MAIN, Texts

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.functions.registry import FUNCTIONS
from phaseline.dsl.grammar.tables import BLUEPRINT, Each, Leaf, Table, TableRows
from phaseline.dsl.reader import read_whole
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.problems.text import render_problem

T = TypeVar("T")
NAMES = [
    "a",
    "b",
    "ns--a",
    "p.a.b",
    "web",
    "cloudify.nodes.Root",
    "cloudify.nodes.Compute",
    "cloudify.relationships.contained_in",
    "cloudify.policies.scaling",
    "integer",
    "list",
    "node_id",
]
KEYS = [*FUNCTIONS, "type", "in_range", "pattern", "length", "error_message", "default_instances"]
IMPORTS = ["cloudify/types/types.yaml", "part.yaml", "ns--part.yaml", "a--b--part.yaml", "plugin:x", "ns--blueprint:x"]


class Chance(Protocol):
    """What decides: a random generator, or the bytes of a fuzzer."""

    def randrange(self, stop: int) -> int:
        """A number below ``stop``."""
        ...


class Garbler:
    """Makes values by chance."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance

    def one(self, things: Sequence[T]) -> T:
        return things[self.chance.randrange(len(things))]

    def some(self, most: int) -> range:
        return range(self.chance.randrange(most))

    def rarely(self) -> bool:
        return self.chance.randrange(20) == 0

    def value(self, depth: int = 0) -> Any:
        kind = self.chance.randrange(12 if depth < 3 else 8)
        if kind < 8:
            return self.one([None, True, 0, -2, 2.5, "", self.one(NAMES), self.one(NAMES)])
        if kind == 8:
            return [self.value(depth + 1) for _ in self.some(4)]
        if kind == 9:
            return {self.one(KEYS): self.one([self.one(NAMES), [self.one([*NAMES, "SELF", 0]) for _ in self.some(4)]])}
        return {self.one(NAMES): self.value(depth + 1) for _ in self.some(4)}

    def shaped(self, shape: object) -> Any:
        if self.rarely():
            return self.value()
        if isinstance(shape, Table):
            return {
                name: self.shaped(key.shape)
                for name, key in shape.keys.items()
                if key.is_required or self.chance.randrange(5) < 2
            }
        if isinstance(shape, Each):
            return {self.one(NAMES): self.shaped(shape.of) for _ in self.some(4)}
        if isinstance(shape, TableRows):
            return [self.shaped(shape.of) for _ in self.some(3)]
        assert isinstance(shape, Leaf)
        if shape.types is None:
            return self.value()
        ways: dict[type, Any] = {
            str: self.one(NAMES),
            bool: True,
            int: self.chance.randrange(5) - 2,
            float: 0.5,
            dict: {self.one([*NAMES, *KEYS]): self.value()},
            list: [self.value()],
        }
        return ways[self.one(sorted(shape.types, key=str))]

    def files(self) -> dict[str, str]:
        """A main file and one that it may import."""
        main, part = self.shaped(BLUEPRINT), self.shaped(BLUEPRINT)
        if isinstance(main, dict):
            main["imports"] = [IMPORTS[0], *(self.one(IMPORTS) for _ in self.some(3))]
            main["tosca_definitions_version"] = f"cloudify_dsl_1_{self.chance.randrange(6)}"
        if isinstance(part, dict):
            part.pop("tosca_definitions_version", None)
            part.pop("imports", None)
        return {MAIN: json.dumps(main), "part.yaml": json.dumps(part)}


def try_reading(files: dict[str, str]) -> bool:
    """Read a blueprint with everything that follows; True if nothing is wrong. What is wrong must be told in words."""
    try:
        blueprint, sections = read_whole(MAIN, Texts(files))
        written = json.dumps(blueprint_to_json(blueprint))
        assert blueprint_from_json(json.loads(written)) == altered(blueprint, warnings=())
        assert json.dumps(plan_document(blueprint, sections))
        with_inputs(blueprint, complete_inputs(blueprint, {}))
    except ProblemsError as error:
        assert error.problems  # noqa: PT017 - not of a test but of what a blueprint may raise
        for problem in error.problems:
            assert problem.message
            assert problem.mend
            assert render_problem(problem)
        return False
    return True
