"""Sites are found by their names (LB5)."""

import pytest
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.estate import SiteRow
from phaseline.store.memory.store import MemoryStore
from phaseline.use_cases.lookup.estate.sites import require_site


def test_lb5_a_site_is_found_or_told_with_one_that_may_be_meant() -> None:
    store = MemoryStore(a.FakeClock()).of("mine")
    store.sites.add(SiteRow("munich", "1,2", 1, ""), a.ANN)
    assert require_site(store, "munich").location == "1,2"
    with pytest.raises(ProblemsError) as caught:
        require_site(store, "munch")
    assert "did you mean 'munich'?" in caught.value.problems[0].mend
