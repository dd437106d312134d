"""Pages of deployments with a filter, whose expression a store can test only in part (LB4)."""

from __future__ import annotations

from pathlib import Path

from tests.store import builders as a
from tests.store.builders import FakeClock

import phaseline
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.store import open_store
from phaseline.use_cases.queries.deployments import listed
from phaseline.use_cases.queries.estate.filtered_deployments import filtered_rows


def test_lb4_pages_of_what_is_evaluated_here_are_like_those_of_the_store(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store = open_store(url, FakeClock())
    for name in ("a1", "a2", "b1", "b2", "b3"):
        store.create_deployment(a.deployment(name))
    store.close()
    with phaseline.open(url) as client:
        for where in (
            'startsWith(name, "b")',
            'startsWith(name, "b") && instance_count > 0',
            'substr(name, 0, 1) == "b"',
        ):
            for query, wanted in (
                (DeploymentQuery(limit=2), ["b1", "b2"]),
                (DeploymentQuery(after="b2", limit=2), ["b3"]),
                (DeploymentQuery(), ["b1", "b2", "b3"]),
            ):
                rows, total, _ = filtered_rows(client.ctx, query, where, listed=listed)  # type: ignore[attr-defined]  # ours
                assert ([row.name for row in rows], total) == (wanted, 3), where
        for where, count in (('status == "not_installed" && sub_services_count < 1', 5), ("size(display_name) > 2", 0)):
            assert filtered_rows(client.ctx, DeploymentQuery(), where, listed=listed).total == count  # type: ignore[attr-defined]  # ours
