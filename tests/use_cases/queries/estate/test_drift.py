"""What stored checks say, without calling anything (LB9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.store import builders as a
from tests.store.builders import FakeClock

import phaseline
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.health.checks import CheckKind, CheckResult, NewCheckResults
from phaseline.store import open_store


def results(deployment: int, kind: CheckKind, found: Sequence[CheckResult]) -> NewCheckResults:
    subjects = np.arange(len(found), dtype=np.int32)
    return NewCheckResults(deployment, kind, subjects, np.array(found, np.uint8), 5, 1)


def test_lb9_drift_is_read_from_stored_checks_and_counted_in_lists(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url, FakeClock())
    with store.own("test"):
        shop, _ = store.create_deployment(a.deployment("shop"))
        farm, _ = store.create_deployment(a.deployment("farm"))
        store.labels.add(farm, [Label("env", "prod")])
        drifts = results(shop, CheckKind.DRIFT, [CheckResult.DRIFTED, CheckResult.GOOD, CheckResult.DRIFTED])
        statuses = results(shop, CheckKind.STATUS, [CheckResult.FAILED, CheckResult.GOOD])
        store.commit(altered(a.turn(), payload=altered(a.turn().payload, checks=(drifts, statuses))))
        ids = store.topology(shop).ids
    store.close()
    with phaseline.open(url) as client:
        farmed, shopped = client.deployments.drift()
        assert (farmed.deployment, farmed.drifted_instances, farmed.unchecked) == ("farm", 0, farmed.instance_count)
        assert (shopped.drifted, shopped.unavailable) == ([ids[0], ids[2]], [ids[0]])
        assert (shopped.drifted_instances, shopped.unavailable_instances) == (2, 1)
        assert shopped.unchecked == shopped.instance_count - 3
        assert [view.deployment for view in client.deployments.drift(rules=["env=prod"])] == ["farm"]
        assert [view.deployment for view in client.deployments.drift(["shop"])] == ["shop"]
        listed = {view.name: view for view in client.deployments.list().items}
        assert (listed["shop"].drifted_instances, listed["shop"].unavailable_instances) == (2, 1)
        assert (listed["farm"].drifted_instances, listed["farm"].unavailable_instances) == (0, 0)
        assert [view.name for view in client.deployments.list(filter="drifted_instances > 1").items] == ["shop"]
