"""Executions with a filter: their own rows, and rules about their deployments (LB3, LB4)."""

from __future__ import annotations

from pathlib import Path

from tests.store import builders as a
from tests.store.builders import FakeClock

import phaseline
from phaseline.model.blueprint.labels import Label
from phaseline.store import open_store


def test_lb3_rules_are_about_deployments_and_expressions_about_executions(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url, FakeClock())
    with store.own("test"):
        for name in ("farm", "shop"):
            number, _ = store.create_deployment(a.deployment(name))
            store.labels.add(number, [Label("env", name)])
            store.create_execution(a.execution(number))
    store.close()
    with phaseline.open(url) as client:

        def found(where: str = "", *rules: str) -> list[str]:
            page = client.executions.list(filter=where, rules=rules)
            assert page.total == len(page.items)
            return [view.deployment for view in page.items]

        assert found() == ["shop", "farm"]
        assert found("", "id=shop") == ["shop"]
        assert found('deployment == "FARM"') == ["farm"]
        assert found('labels.env == "shop" && size(id) > 3') == ["shop"]
        assert found("created_at < started_at || ended_at isnt undefined") == []
        assert found('status == "queued" || status == "running"', "env=farm") == ["farm"]
