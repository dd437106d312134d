"""Whom stage tasks will be for."""

import numpy as np
from tests.plan.stages.test_stage_tasks import ORIGIN, SITE, granular, laid

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.model.packages.package import EVERYBODY, Roles
from phaseline.model.packages.stage_tasks import ExecutionTask, Stages
from phaseline.plan.rounds.round_preview import PreviewedRounds
from phaseline.plan.rounds.task_subjects import whom
from phaseline.plan.stages.task_listing import task_rows


def test_only_those_whom_a_heal_changes_run_tasks() -> None:
    task = ExecutionTask(
        "p#1", "shell", ORIGIN, 0, EVERYBODY, {"cmd": "x"}, stage="post_deployment", written="post_deployment"
    )
    graph = laid(granular("check", Roles(("web",))))
    assert graph is not None
    foreseen = PreviewedRounds(
        SITE, ((SITE, altered(graph, name="check_status")),), SITE, np.zeros(len(SITE), np.uint8), None
    )
    assert not whom(Request("heal"), foreseen).any()
    foreseen = altered(foreseen, graphs=((SITE, altered(graph, name="heal")),))
    new = whom(Request("heal"), foreseen)
    assert new.tolist() == [False, False, True, True, True]
    (row,) = task_rows(Stages((task,)), SITE, "heal", new)
    assert row.instances == 3
