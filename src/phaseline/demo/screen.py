"""What the audience sees: acts, commands as a user would type them, their output, and claims with their truth."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text


@dataclass(slots=True)
class Screen:
    """Writes to the terminal and remembers which claims did not hold."""

    console: Console
    broken: list[str] = field(default_factory=list)

    def title(self, text: str) -> None:
        """The first line."""
        self.console.print(Text(text, style="bold"))

    def act(self, number: int, text: str) -> None:
        """A new act begins."""
        self.console.print()
        self.console.rule(Text(f"{number}  {text}", style="bold cyan"), align="left", style="cyan")

    def say(self, text: str) -> None:
        """A sentence to the audience."""
        self.console.print(Text(text), soft_wrap=True)

    def command(self, words: Sequence[str]) -> None:
        """What a user would type."""
        self.console.print(Text.assemble(("$ ", "green"), (shlex.join(words), "bold green")), soft_wrap=True)

    def output(self, line: str) -> None:
        """One line that a program wrote."""
        self.console.print(Text("  ") + Text.from_ansi(line.rstrip("\n")), soft_wrap=True)

    def claim(self, text: str, *, holds: bool) -> None:
        """A sentence that was checked just now."""
        mark = Text("✔ ", style="bold green") if holds else Text("✘ ", style="bold red")
        self.console.print(mark + Text(text, style="green" if holds else "red"), soft_wrap=True)
        if not holds:
            self.broken.append(text)
