"""The pages about commands and settings are those that the program would write now."""

import tomllib
from pathlib import Path

import click
import pytest

from phaseline.app.settings import load_settings
from phaseline.app.settings_schema import SETTINGS
from phaseline.cli.command_tree import root
from phaseline.cli.reference_docs import commands_page, example_file, settings_page, walk

DOCS = Path(__file__).resolve().parents[2] / "docs"
REMEDY = "run: python -m phaseline.cli.reference_docs"
COMMANDS = list(walk(root, "phaseline"))
LEAVES = [(path, command) for path, command in COMMANDS if not isinstance(command, click.Group)]
each_word = pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
each_command = pytest.mark.parametrize(("path", "command"), LEAVES, ids=[path for path, _ in LEAVES])


def test_the_page_about_commands_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text("utf-8") == commands_page(), REMEDY


def test_the_page_about_settings_is_up_to_date() -> None:
    assert (DOCS / "settings.md").read_text("utf-8") == settings_page(), REMEDY


def test_the_example_file_sets_everything_and_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "phaseline.toml").write_text(example_file(), "utf-8")
    settings = load_settings(environment={}, folder=tmp_path)
    assert settings.store_url == SETTINGS[0].example
    assert sum(len(section) for section in tomllib.loads(example_file()).values()) == len(SETTINGS)


@each_command
def test_command_answers_in_json_too(path: str, command: click.Command) -> None:
    assert "--json" in [option for parameter in command.params for option in parameter.opts]


@each_word
def test_command_shows_an_example_of_itself(path: str, command: click.Command) -> None:
    assert command.epilog is not None
    assert command.epilog.startswith(f"Example: {path}")


@each_command
def test_command_says_what_it_does(path: str, command: click.Command) -> None:
    assert command.help
    assert command.help.splitlines()[0].endswith(".")
