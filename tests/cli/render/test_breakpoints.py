"""Breakpoints as text."""

from phaseline.cli.render.breakpoints import listed_text
from phaseline.use_cases.commands.breakpoints import Kept


def test_what_is_kept_stands_below_what_is_stopped() -> None:
    assert listed_text((), ()) == "No instance is stopped at a breakpoint."
    text = listed_text((), [Kept("shop", ["pre-create=web"], [])])
    assert text.splitlines()[2] == "Breakpoints for everything that starts from now on:"
    assert "pre-create=web  shop" in text
