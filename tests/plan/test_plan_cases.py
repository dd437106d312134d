"""Plans as texts: each folder of tests/cases/plans has a blueprint, perhaps a request, and the text expected.

``PHASELINE_ACCEPT=1`` writes the texts anew; read the difference before it is committed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.execution import History, Request
from phaseline.plan.preview.plan_summary import summarise
from phaseline.plan.preview.plan_text import plan_text
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import topology

CASES = Path(__file__).resolve().parents[1] / "cases/plans"


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_the_plan_of_a_blueprint_reads_as_expected(case):
    file = str(case / "blueprint.yaml")
    written = read_blueprint(file, BlueprintFiles(file))
    built = topology(with_inputs(written, complete_inputs(written, {})))
    request = case / "request.json"
    given = json.loads(request.read_text("utf-8")) if request.exists() else {"workflow": "install"}
    before = InstanceState.UNINITIALIZED if given["workflow"] == "install" else InstanceState.STARTED
    graph = PLANNERS[given["workflow"]](
        built, Request(**given), History(np.full(len(built), before, np.uint8)), declaration
    )
    text = plan_text(summarise(built, graph, slots={"threads": 8, "workers": 4}, written=written)).replace(
        f"{case}/", ""
    )
    expected = case / "expected.txt"
    if os.environ.get("PHASELINE_ACCEPT"):
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")


def declaration(operation):
    """Operations of the plugin called bulk take many at once."""
    return Declaration(bulk=operation.plugin == "bulk", repeatable=True)
