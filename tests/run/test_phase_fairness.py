"""Phases share a pool: nobody is kept out for good, and edits meet runs (phases.md, sections 3.4 and 14)."""

from tests.run.engines import all_of
from tests.run.yard import Yard, phase


def test_p92_a_phase_with_one_resource_runs_within_two_runs_of_one_that_is_always_ready() -> None:
    yard = Yard(phase("Always"), phase("Once", "Configuration"))
    yard.slots = {"bulk": 1}
    yard.begin_engine()
    yard.start("b")
    yard.complete("Always", "b")
    assert yard.runs() == [("Always", ["b"]), ("Once", ["b"])]
    yard.start("a0")
    yard.start("c")
    yard.complete("Once", "b")
    assert yard.runs()[2:] == [("Always", ["a0", "c"])]
    for number in range(1, 5):  # somebody always waits for Always, and c for Once from the next run on
        yard.start(f"a{number}")
        yard.post(all_of(yard.executor.batches[max(yard.executor.batches)]))
    names = [name for name, _ in yard.runs()[3:]]
    assert "Once" in names[:2]
    assert "Always" in names[:2]


def test_p38_an_edit_and_a_run_that_changes_another_attribute_both_survive() -> None:
    yard = Yard(phase("Create"))
    yard.start("n", A=1, B=1)
    yard.edit("n", A=2)
    yard.answer(yard.find("Create", "n"), properties={"B": 3})
    assert yard.document_of("n") == {"A": 2, "B": 3}
    yard.crash()
    assert yard.document_of("n") == {"A": 2, "B": 3}
