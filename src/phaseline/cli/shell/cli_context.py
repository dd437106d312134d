"""What every command has at hand: the settings, the way to the use cases, and the two ways to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaseline.cli.startup import fast_start as lean
from phaseline.cli.streams.output import (
    answer_exactly,
    answer_json,
    answer_json_parts,
    echo,
    echo_err,
    escape_others,
    keep_output,
    settle,
)

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import RequestId
    from phaseline.views.views import Line


class Desk:
    """Made once for each run of the program. ``given`` are settings from options, by name.

    ``is_quiet``: only answers and problems; ``is_verbose``: logs and events of what runs, while it runs. ``ctx``: the
    request that is open. ``request_id``: of the order that is given; ``requested``: how it is used. ``plan_form``: how a plan is written.
        ``takes`` gets answers in place of the output, while they are watched.
    """

    def __init__(
        self,
        config: str | None = None,
        given: Mapping[str, str] | None = None,
        *,
        as_json: bool = False,
        is_quiet: bool = False,
        is_verbose: bool = False,
        request_id: str | None = None,
    ) -> None:
        """Nothing is opened yet."""
        self.config = config
        self.given = given or {}
        self.as_json = as_json
        self.is_quiet = is_quiet
        self.is_verbose = is_verbose
        self.request_id = request_id
        self.requested: RequestId | None = None
        self.ctx: RequestContext | None = None
        self.plan_form = "text"
        self.takes: Callable[[object, Callable[[], str]], None] | None = None

    @contextmanager
    def open(
        self, more: Mapping[str, str | None] | None = None, *, makes_store: bool = False, lists: bool = False
    ) -> Iterator[RequestContext]:
        """The context of a use case; ``more`` are settings that the command's own options give (None: not given).

        ``makes_store``: the command puts something into a store, so it may be a new one. ``lists``: it lists, and on a
        machine without a store it says how to begin.
        """
        keep_output()  # within it plugins run
        lean.load()
        from phaseline.embedded.open_app import open_context

        with open_context(self.settings(more), background=True) as ctx:
            ctx.app.notice = self.notice
            ctx.app.before_code = escape_others
            ctx.app.makes_store = makes_store
            ctx.app.only_lists = lists
            self.ctx = ctx.app.request(self.request_id)
            self.requested = self.ctx.requested
            yield self.ctx
            if self.requested is not None and not self.requested.is_taken:
                self.notice("note: the request id was not used: this command gives no order that it could be kept for")

    def follow(self, execution: str) -> Callable[[], Sequence[Line]]:
        """What gives the new lines of an execution of the open store, each time it is called."""
        from phaseline.use_cases.queries.events.log_tail import Tail

        assert self.ctx is not None, "executions run in an open store"
        return Tail(self.ctx, execution).new

    def settings(self, more: Mapping[str, str | None] | None = None) -> Settings:
        """The settings that hold here, ``more`` as for ``open``. Raises ``ProblemsError`` with all that is wrong."""
        from phaseline.app.settings import load_settings

        own = {name: text for name, text in (more or {}).items() if text is not None}
        return load_settings(config=self.config, given={**self.given, **own})

    def answer(self, value: object, text: Callable[[], str], *, exactly: bool = False) -> None:
        """Print the value: as one JSON document, or as the text made of it.

        ``exactly``: the text is a document to be kept as it is, unless it goes to a terminal.
        """
        settle()
        if self.requested is not None and self.requested.is_taken:
            value = self._marked(value)
        if self.takes is not None:
            self.takes(value, text)
        elif self.as_json:
            from phaseline.views.json_codec import document

            answer_json(document(value))
        elif exactly:
            answer_exactly(text())
        else:
            echo(text())

    def answer_pages(
        self,
        begin: Mapping[str, object],
        key: str,
        pages: Iterable[Sequence[Line]],
        end: Mapping[str, object],
        text: Callable[[Sequence[Line]], str],
    ) -> None:
        """Print lines a page at a time: as one JSON document with the fields ``begin``, ``key`` and ``end``, or as text."""
        settle()
        if self.as_json:
            from phaseline.views.json_codec import document_pages

            answer_json_parts(document_pages(begin, key, pages, end))
            return
        is_empty = True
        for page in pages:
            if page:
                echo(text(page))
                is_empty = False
        if is_empty:
            echo(text(()))

    def _marked(self, value: object) -> object:
        """The answer of an order with a request id: with ``is_repeated``."""
        from phaseline.views.json_codec import plain

        assert self.requested is not None, "it has one"
        told = plain(value)
        return {**told, "is_repeated": self.requested.is_repeated} if isinstance(told, dict) else value

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Print what is wrong: one document on stdout, or text on stderr."""
        from phaseline.cli.render import problems as render

        if self.as_json:
            answer_json(render.problems_document(problems))
        else:
            echo_err(render.problems_text(problems))

    def notice(self, text: str) -> None:
        """Say something beside the answer, unless only the answer is wanted."""
        if not self.is_quiet:
            echo_err(text)
