"""What is said of an engine that was started in the background."""

from phaseline.views.background import Background


def test_it_is_named_by_its_process_and_its_log() -> None:
    assert (
        str(Background(7, "/l/engine.log")) == "The engine carries on in the background: process 7, log /l/engine.log"
    )
    assert "process 7, without a log" in str(Background(7, ""))


def test_one_that_was_not_seen_to_begin_carries_on_with_nothing_yet() -> None:
    said = str(Background(7, "/l/engine.log", has_begun=False))
    assert said.startswith("The engine in the background has not started yet: process 7")
    assert said.endswith("The request is stored")
