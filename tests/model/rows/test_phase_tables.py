"""What a store has of phases."""

from phaseline.model.rows.phase_tables import PhaseTables


def test_a_store_without_phases_has_empty_tables():
    found = PhaseTables()
    assert not any((found.known, found.paused, found.measures, found.packages, found.data_keys))
