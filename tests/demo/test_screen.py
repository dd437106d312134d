"""What the audience sees: a claim that does not hold is shown, kept and decides the exit code."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from phaseline.demo.acts import finish
from phaseline.demo.screen import Screen


@pytest.fixture
def screen() -> Screen:
    return Screen(Console(file=io.StringIO(), width=80, highlight=False))


def shown(screen: Screen) -> str:
    return screen.console.file.getvalue()  # type: ignore[attr-defined]  # the file of the fixture


def test_a_claim_that_holds_lets_the_demonstration_succeed(screen: Screen) -> None:
    screen.claim("two and two is four", holds=True)
    assert (finish(screen, 12.3, Path("there")), "✔ two and two is four" in shown(screen)) == (0, True)


def test_a_claim_that_does_not_hold_fails_the_demonstration(screen: Screen) -> None:
    screen.claim("two and two is five", holds=False)
    assert (finish(screen, 12.3, Path("there")), "✘ two and two is five" in shown(screen)) == (1, True)


def test_a_command_is_shown_as_a_user_would_type_it(screen: Screen) -> None:
    screen.command(["phaseline", "install", "a.yaml", "-i", "title=Hello you"])
    assert shown(screen) == "$ phaseline install a.yaml -i 'title=Hello you'\n"


def test_colours_of_a_command_are_understood_not_printed(screen: Screen) -> None:
    screen.output("\x1b[32mdone\x1b[0m\n")
    assert shown(screen) == "  done\n"
