"""Labels are of the deployment, so other executions need not wait for who changes them."""

from __future__ import annotations

from phaseline.model.execution.execution import Request
from phaseline.plan.workflows.bookkeeping import no_claims
from phaseline.testing.builders import blueprint, node, topology


def test_other_labels_claim_no_instance():
    web = topology(blueprint(node("web", instances=3)))
    assert no_claims(web, Request("relabel", {"add": ["tier=gold"]})).tolist() == [False] * 3
