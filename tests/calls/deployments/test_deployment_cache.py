"""What an engine loads of the store when it takes over: opened where it was sealed."""

from tests.store.builders import FakeClock

from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.model.rows.rows import NoteRow
from phaseline.store.memory.store import MemoryStore
from phaseline.vault.master_keys import MasterKeys
from phaseline.vault.vault import Vault


def test_d30_data_for_the_next_call_of_an_entry_is_opened_by_the_engine_that_goes_on() -> None:
    store, keys = MemoryStore(FakeClock()), MasterKeys("", {})
    before = Vault(lambda tenant: store.of(tenant).secrets, store.identity(), keys, FakeClock())
    before.learn("correct-horse-battery")
    left = {"seen": "correct-horse-battery", "count": 3}
    sealed = before.sealed(left)
    assert "correct" not in str(sealed)
    after = DeploymentCache(store, Vault(lambda tenant: store.of(tenant).secrets, store.identity(), keys, FakeClock()))
    after.keep_data(7, [NoteRow(3, 1, 0, 0, "", {}, sealed), NoteRow(4, 1, 0, 0, "", {}, None)])
    assert after.data(7) == {3: left}
    assert after.secrets.knows("it was correct-horse-battery")
