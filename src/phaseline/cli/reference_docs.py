"""``python -m phaseline.cli.reference_docs``: write ``docs/cli.md`` and ``docs/settings.md`` from commands and settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from phaseline.app.settings_schema import SETTINGS
from phaseline.cli.command_tree import root

WIDTH = 110
MADE = "<!-- Made by `python -m phaseline.cli.reference_docs`; a test holds it to the program. -->"


def commands_page() -> str:
    """Return ``docs/cli.md``: every command with its help."""
    parts = [
        "# Commands",
        "**Reference** for users of a terminal. You will have: every command with its options and exit codes.",
        MADE,
        (
            "Every command answers with text, or with one JSON document when `--json` is given; progress, notices and problems "
            "of text answers go to stderr. Names and ids may be shortened to a unique beginning."
        ),
        (
            "Text of blueprints, plugins and scripts cannot control the terminal: control characters, escape sequences and "
            "characters that change the direction of writing are shown as escapes (`\\x1b`), on a terminal and in a pipe. "
            "Documents of `--json` are exact, with the escapes of JSON. A revealed secret and a record are exact in a pipe or a "
            "file. Plugins and the programs that they start get a pipe in place of the terminal, so that their own output is "
            "escaped, too. Their output to a file or a pipe is not changed."
        ),
        (
            "Exit codes: 0 success; 1 failed, canceled, refused, in need of attention or interrupted; "
            "2 the arguments of the command are not valid."
        ),
    ]
    for path, command in walk(root, "phaseline"):
        parts.append(f"## {path}")
        parts.append(f"```console\n$ {path} --help\n{help_of(command, path)}\n```")
    return "\n\n".join(parts) + "\n"


def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield this command and all commands below it, with the words that call it, in the order of the help."""
    yield path, command
    if isinstance(command, click.Group):
        with click.Context(command) as ctx:
            for name in command.list_commands(ctx):
                below = command.get_command(ctx, name)
                if below is not None:
                    yield from walk(below, f"{path} {name}")


def help_of(command: click.Command, path: str) -> str:
    """Return the help of a command as printed, in a fixed width."""
    settings = {"help_option_names": ["-h", "--help"]}
    with click.Context(command, info_name=path, terminal_width=WIDTH, **settings) as ctx:  # type: ignore[arg-type]  # mixed values
        return "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())


def settings_page() -> str:
    """Return ``docs/settings.md``: the table of all settings."""
    parts = [
        "# Settings",
        "**Reference** for operators. You will have: every setting with its variable, its kind and its default.",
        MADE,
        (
            "A setting is taken from the first of these that has it: an option of the command line; its environment variable; the settings "
            "file; its default. The settings file is the one named with `--config`, else `phaseline.toml` in the working folder, "
            "else `phaseline/phaseline.toml` in the user's configuration folder. A key that is not a setting is an error. "
            "So is a file that other users can write, or that belongs to neither the user nor root."
        ),
        "| setting | environment variable | meaning | kind | default |\n| --- | --- | --- | --- | --- |\n"
        + "\n".join(
            f"| `{item.name}` | `{item.variable}` | {item.meaning} | {item.kind} | {item.default or 'none'} |"
            for item in SETTINGS
        ),
        "```toml\n" + example_file() + "```",
    ]
    return "\n\n".join(parts) + "\n"


def example_file() -> str:
    """Return a settings file with every setting."""
    lines: list[str] = []
    for section in dict.fromkeys(item.name.partition(".")[0] for item in SETTINGS):
        lines.append(f"[{section}]")
        for item in SETTINGS:
            head, _, key = item.name.partition(".")
            if head == section:
                is_number = item.example.replace(".", "").isdigit()
                lines.append(f"{key} = {item.example if is_number else repr(item.example).replace(chr(39), chr(34))}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both pages into the given folder, by default ``docs``."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    (folder / "cli.md").write_text(commands_page(), "utf-8")
    (folder / "settings.md").write_text(settings_page(), "utf-8")


if __name__ == "__main__":
    main()
