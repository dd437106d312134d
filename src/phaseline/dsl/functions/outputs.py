"""Outputs and capabilities of a deployment, evaluated on request (B24)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.scopes import RuntimeScope
from phaseline.model.blueprint import Output, Value
from phaseline.model.frozen import altered
from phaseline.model.problem import ProblemsError


def evaluate_outputs(outputs: Mapping[str, Output], scope: RuntimeScope) -> dict[str, Value]:
    """{name: value}. What cannot be told of a running instance becomes the text ``<ERROR: …>``, alone or within a value."""
    tolerant = altered(scope, own=None, source=None, target=None, is_tolerant=True)
    values: dict[str, Value] = {}
    for name, output in outputs.items():
        try:
            values[name] = evaluate(output.value, tolerant)
        except ProblemsError as error:
            values[name] = f"<ERROR: {error.problems[0].message}>"
    return values
