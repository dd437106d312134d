"""The page about retention tells the bounds that hold."""

from pathlib import Path

from phaseline.app.engine_log import LOG_BYTES, LOGS_KEPT
from phaseline.store.codec import limits as bounds

PAGE = (Path(__file__).resolve().parents[2] / "docs/retention.md").read_text("utf-8")


def test_the_bounds_of_the_store_are_those_of_the_page() -> None:
    for what, bound in (
        ("log lines of one execution", f"{bounds.LOG_LINES_KEPT:,}"),
        ("events of one execution", f"{bounds.EVENTS_KEPT:,}"),
        ("one log line", f"{bounds.LOG_TEXT_LENGTH:,} characters"),
        ("the message of an operation", f"{bounds.MESSAGE_LENGTH:,} characters"),
        ("a traceback", f"{bounds.TRACEBACK_LENGTH:,} characters"),
    ):
        assert f"| {what} | {bound} |" in PAGE, what


def test_the_bounds_of_the_log_are_those_of_the_page() -> None:
    assert f"| {LOG_BYTES // 1024**2} MiB |" in PAGE
    assert LOGS_KEPT == 5
    assert "five of those are kept" in PAGE
