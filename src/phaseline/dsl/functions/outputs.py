"""Outputs and capabilities of a deployment, evaluated on request (B24)."""

from __future__ import annotations

from collections.abc import Mapping

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import NO_SECRET, RuntimeScope
from phaseline.dsl.functions.registry import function_name
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Output, Value
from phaseline.model.problems.problem import ProblemsError


def evaluate_outputs(outputs: Mapping[str, Output], scope: RuntimeScope) -> dict[str, Value]:
    """Return {name: value}. A part that cannot be computed becomes the text ``<ERROR: …>``.

    An output that consists only of a missing secret is left out.
    """
    tolerant = altered(scope, own=None, source=None, target=None, is_tolerant=True)
    values: dict[str, Value] = {}
    for name, output in outputs.items():
        try:
            values[name] = evaluate(output.value, tolerant)
        except ProblemsError as error:
            if function_name(output.value) == "get_secret" and error.problems[0].code == NO_SECRET:
                continue
            values[name] = f"<ERROR: {error.problems[0].message}>"
    return values
