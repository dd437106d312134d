"""What every command has at hand: the settings, the way to the use cases, and the two ways to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaseline.cli import lean
from phaseline.cli.saying import answer, keep_output, say

if TYPE_CHECKING:
    from phaseline.model.problem import Problem
    from phaseline.use_cases.settings import Settings
    from phaseline.use_cases.values import Line
    from phaseline.use_cases.workplace import Workplace


class Desk:
    """Made once for each run of the program. ``given`` are settings from options, by name.

    ``is_quiet``: only answers and problems; ``is_verbose``: logs and events of what runs, while it runs. ``place``: the
    workplace that is open.
    """

    def __init__(
        self,
        config: str | None = None,
        given: Mapping[str, str] | None = None,
        *,
        as_json: bool = False,
        is_quiet: bool = False,
        is_verbose: bool = False,
    ) -> None:
        """Nothing is opened yet."""
        self.config = config
        self.given = given or {}
        self.as_json = as_json
        self.is_quiet = is_quiet
        self.is_verbose = is_verbose
        self.place: Workplace | None = None

    @contextmanager
    def open(self, more: Mapping[str, str | None] | None = None, *, makes_store: bool = False) -> Iterator[Workplace]:
        """The workplace for a use case; ``more`` are settings that the command's own options give (None: not given).

        ``makes_store``: the command puts something into a store, so it may be a new one.
        """
        keep_output()  # within it plugins run
        lean.load()
        from phaseline.use_cases.background import launch
        from phaseline.use_cases.workplace import workplace

        with workplace(self.settings(more)) as place:
            place.launch = launch
            place.tell = self.notice
            place.makes_store = makes_store
            self.place = place
            yield place

    def follow(self, execution: str) -> Callable[[], Sequence[Line]]:
        """What gives the new lines of an execution of the open workplace, each time it is called."""
        from phaseline.use_cases.tail import Tail

        assert self.place is not None, "executions run in an open workplace"
        return Tail(self.place, execution).new

    def settings(self, more: Mapping[str, str | None] | None = None) -> Settings:
        """The settings that hold here, ``more`` as for ``open``. Raises ``ProblemsError`` with all that is wrong."""
        from phaseline.use_cases.settings import load_settings

        own = {name: text for name, text in (more or {}).items() if text is not None}
        return load_settings(config=self.config, given={**self.given, **own})

    def answer(self, value: object, text: Callable[[], str]) -> None:
        """Print the value: as one JSON document, or as the text made of it."""
        if self.as_json:
            from phaseline.cli.render.json_form import document

            answer(document(value))
        else:
            answer(text())

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Print what is wrong: one document on stdout, or text on stderr."""
        from phaseline.cli.render import problems as render

        if self.as_json:
            answer(render.problems_document(problems))
        else:
            say(render.problems_text(problems))

    def notice(self, text: str) -> None:
        """Say something beside the answer, unless only the answer is wanted."""
        if not self.is_quiet:
            say(text)
