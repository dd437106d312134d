"""Sites in the store in memory, and a purge of deployments."""

from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.estate import SiteRow
from phaseline.store.memory.store import MemoryStore


def test_lb5_the_site_of_a_deployment_that_is_purged_is_forgotten() -> None:
    store = MemoryStore(a.FakeClock())
    store.sites.add(SiteRow("munich", "", 1, ""), a.ANN)
    kept, _ = store.create_deployment(altered(a.deployment("kept"), site="munich"))
    gone, _ = store.create_deployment(altered(a.deployment("gone"), site="munich"))
    store.sites.forget([kept])
    assert store.sites.of([kept, gone]) == {kept: "munich"}
