"""Where checks in memory find the values of rows."""

from tests.store import builders as a

from phaseline.model.rows.deployment_summaries import DeploymentSummary
from phaseline.model.rows.row_queries import RowTest
from phaseline.store.memory.estate.row_checks import RowFacts
from phaseline.store.memory.store import MemoryStore


def test_lb4_a_deployment_that_cannot_be_read_has_no_status() -> None:
    store = MemoryStore(a.FakeClock())
    store.create_deployment(a.deployment("shop"))
    (row,) = store.deployments()
    flawed = DeploymentSummary("", flaw="damaged")
    facts = RowFacts(lambda _: (), lambda _: "", lambda _: "", lambda _: "", lambda _: flawed)
    assert not facts.has_deployment(row, [RowTest("status", "defined")])
    assert facts.has_deployment(row, [RowTest("display_name", "is", "shop"), RowTest("id", "starts", "sh")])
    assert not facts.has_deployment(row, [RowTest("site_name", "defined")])
