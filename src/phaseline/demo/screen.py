"""The screen of the demonstration: acts, commands as a user types them, their output, and checked claims."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text


@dataclass(slots=True)
class Screen:
    """The terminal output of the demonstration. ``broken`` collects the claims that were false."""

    console: Console
    broken: list[str] = field(default_factory=list)

    def title(self, text: str) -> None:
        """Print the title of the demonstration."""
        self.console.print(Text(text, style="bold"))

    def act(self, number: int, text: str) -> None:
        """Print the title of an act."""
        self.console.print()
        self.console.rule(Text(f"{number}  {text}", style="bold cyan"), align="left", style="cyan")

    def say(self, text: str) -> None:
        """Print a sentence to the audience."""
        self.console.print(Text(text), soft_wrap=True)

    def command(self, words: Sequence[str]) -> None:
        """Print a command as a user would type it."""
        self.console.print(Text.assemble(("$ ", "green"), (shlex.join(words), "bold green")), soft_wrap=True)

    def output(self, line: str) -> None:
        """Print one line of a program's output."""
        self.console.print(Text("  ") + Text.from_ansi(line.rstrip("\n")), soft_wrap=True)

    def claim(self, text: str, *, holds: bool) -> None:
        """Print a claim with the result of its check, and remember it if it is false."""
        mark = Text("✔ ", style="bold green") if holds else Text("✘ ", style="bold red")
        self.console.print(mark + Text(text, style="green" if holds else "red"), soft_wrap=True)
        if not holds:
            self.broken.append(text)
