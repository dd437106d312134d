"""Find the instances on which stage tasks of packages will run, from previewed rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import Mark
from phaseline.plan.stages.stage_tasks import CHECK_STATUS, HEAL, RESHAPING, fresh
from phaseline.plan.transforms.pipeline import Asked

if TYPE_CHECKING:
    from phaseline.model.execution.execution import Request
    from phaseline.plan.rounds.round_preview import PreviewedRounds


def whom(request: Request, foreseen: PreviewedRounds) -> np.ndarray:
    """Return the instances on which tasks will run if all goes as previewed, bool by number in the last topology."""
    topology = foreseen.topology
    if request.workflow == HEAL:
        found = np.zeros(len(topology), bool)
        for _, graph in foreseen.graphs:
            if graph.name != CHECK_STATUS:
                kinds = np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])
                is_called = (kinds == SubjectKind.INSTANCE) & ((graph.marks & Mark.ABSENT) == 0)
                found[graph.subject[is_called]] = True
        found &= topology.is_there
        return found
    begun = [shape for shape, _ in foreseen.graphs if shape.started is not None]
    shape = begun[-1] if request.workflow in RESHAPING and begun else topology
    history = History(np.zeros(len(shape), np.uint8))
    new = fresh(Asked(shape, request, history, lambda _: Declaration()))
    found = np.zeros(len(topology), bool)
    found[: len(new)] = new[: len(topology)]
    found &= topology.is_there
    return found
