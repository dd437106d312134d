"""The context of every command (settings, client, output), and commands made from the table of operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.startup import fast_start as lean
from phaseline.cli.streams.output import (
    answer_exactly,
    answer_json,
    answer_json_parts,
    echo,
    echo_err,
    errors,
    escape_others,
    keep_output,
    settle,
)

if TYPE_CHECKING:
    from phaseline.app.settings import Settings
    from phaseline.client.client import Client
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import RequestId
    from phaseline.views.views import Line


class CliContext:
    """The context of one run of the program. ``given``: {setting: its value} from options of the command line.

    ``is_quiet``: print only answers and problems. ``is_verbose``: print logs and events while an execution runs.
    ``client``: the open client. ``request_id``: the id from ``--request-id``; ``requested``: this id as the client uses
    it. ``plan_form``: the format of a plan. ``takes``: with ``--watch``, the function that receives answers in place of
    the output.
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
        """Keep the options; nothing is opened yet."""
        self.config = config
        self.given = given or {}
        self.as_json = as_json
        self.is_quiet = is_quiet
        self.is_verbose = is_verbose
        self.request_id = request_id
        self.requested: RequestId | None = None
        self.client: Client | None = None
        self.plan_form = "text"
        self.takes: Callable[[object, Callable[[], str]], None] | None = None

    @contextmanager
    def open(self) -> Iterator[Client]:
        """Return a context with the client of this command, which is closed at the end."""
        keep_output()  # plugins run while the client is open
        lean.load()
        from phaseline.client.local import LocalClient
        from phaseline.embedded.open_app import open_context

        with open_context(self.settings(), background=True) as ctx:
            ctx.app.notice = self.notice
            ctx.app.before_code = escape_others
            self.client = client = LocalClient(ctx.app, load=self.settings, keeps_to_store=True)
            if self.request_id is None:
                yield client
                return
            with client.request_id(self.request_id) as self.requested:
                yield client
            if not self.requested.is_taken:
                self.notice("note: the request id was not used: this command makes no request that can be repeated")

    def without_store(self) -> Client:
        """Return a client for operations that need no store; it opens no store."""
        from phaseline.client.local import LocalClient

        return LocalClient(None, load=self.settings)

    def follow(self, execution: str) -> Callable[[], Sequence[Line]]:
        """Return a function that returns, at each call, the new lines of an execution."""
        assert self.client is not None, "executions run while a client is open"
        return self.client.executions.tail(execution).new

    def renderer(self, dotted: str) -> Callable[..., str]:
        """Import the function ``module:name`` of ``cli.render``. Commands get renderers only from here."""
        module, _, name = dotted.partition(":")
        found: Callable[..., str] = getattr(import_module(f"phaseline.cli.render.{module}"), name)
        return found

    def settings(self) -> Settings:
        """Return the effective settings. Raises ``ProblemsError`` with every invalid setting."""
        from phaseline.app.settings import load_settings

        return load_settings(config=self.config, given=self.given)

    def answer(self, value: object, text: Callable[[], str], *, exactly: bool = False) -> None:
        """Print the value as one JSON document, or as the text made of it.

        ``exactly``: the text is a document and is printed unchanged, unless it goes to a terminal.
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
        """Print lines page by page: as one JSON document with the fields ``begin``, ``key`` and ``end``, or as text."""
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
        """Return the answer with the field ``is_repeated`` if the request has an id, otherwise the answer itself."""
        from phaseline.views.json_codec import plain

        assert self.requested is not None, "it has one"
        told = plain(value)
        return {**told, "is_repeated": self.requested.is_repeated} if isinstance(told, dict) else value

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Print problems: one JSON document on stdout, or text on stderr."""
        from phaseline.cli.render import problems as render

        if self.as_json:
            answer_json(render.problems_document(problems))
        else:
            echo_err(render.problems_text(problems))

    def asks(self, yes: bool) -> bool:
        """Return True if a person can answer a question: no ``--yes``, no ``--json``, and stdin is a terminal."""
        return not (yes or self.as_json) and sys.stdin.isatty() and errors().isatty()

    def notice(self, text: str) -> None:
        """Print a notice on stderr, unless the user wants only the answer (``--quiet``)."""
        if not self.is_quiet:
            echo_err(text)


def _remember_json(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    ctx.ensure_object(CliContext).as_json |= value


json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_remember_json,
    help="Answer with one JSON document on stdout.",
)

Words = dict[str, Any]
"""{argument of the method: the value given for it}"""
Option = Callable[[Any], Any]
VARIABLE = 4
"""Flag in a function's code object: it takes any number of further arguments (``inspect.CO_VARARGS``)."""


def command_for(
    operation: str,
    *options: Option,
    help: str,  # noqa: A002 - the name in click
    example: str,
    render: str | Callable[..., str],
    name: str | None = None,
    answer: Callable[[Any], object] | None = None,
    more: Callable[[Words], Words] | None = None,
    code: Callable[[Any], int] | None = None,
    exactly: str | bool = False,
    is_local: bool = False,
    cls: type[click.Command] = click.Command,
) -> click.Command:
    """Make the command of an operation. Each of ``options`` has the name of an argument of the operation's method.

    ``render``: the renderer of the answer, as ``module:function`` of ``cli.render``. ``more``: makes further arguments
    of the renderer from the given options. ``answer``: makes the document for ``--json`` if it is not the answer
    itself. ``code``: returns the exit code for an answer. ``exactly``: the text is a document to be printed unchanged;
    or the name of the switch that decides this. ``is_local``: the operation opens no store.
    """

    def run(cli: CliContext, /, **words: Any) -> None:
        with cli.without_store() if is_local else cli.open() as client:
            found = ask(client, operation, words)
        given = {} if more is None else more(words)
        is_exact = bool(words[exactly]) if isinstance(exactly, str) else exactly
        told = found if answer is None else answer(found)
        text = cli.renderer(render) if isinstance(render, str) else render
        cli.answer(told, lambda: text(found, **given), exactly=is_exact)
        if code is not None:
            click.get_current_context().exit(code(found))

    return _made(run, operation, options, help=help, example=example, name=name, cls=cls)


local_command_for = partial(command_for, is_local=True)
"""Make the command of a client's method that needs no store; the arguments are those of ``command_for``."""


def run_command_for(
    operation: str,
    *options: Option,
    help: str,  # noqa: A002 - the name in click
    example: str,
    name: str | None = None,
    hints: Callable[[Any], Sequence[str]] | None = None,
    check: Callable[[Words], None] | None = None,
    confirm: Callable[[CliContext, Client, Words], None] | None = None,
    cls: type[click.Command] = click.Command,
) -> click.Command:
    """Make the command of an operation that runs an execution: it shows progress, then prints the result.

    ``hints``: returns lines to print after a good result. ``check``: raises a usage error for options that do not fit.
    ``confirm``: asks the user before anything is done.
    """

    def run(cli: CliContext, /, **words: Any) -> None:
        if check is not None:
            check(words)
        from phaseline.cli.shell.run_output import print_result, progress_watcher

        with cli.open() as client:
            if confirm is not None:
                confirm(cli, client, words)
            with progress_watcher(cli) as watcher:
                view = ask(client, operation, {**words, "watcher": watcher})
            print_result(cli, view, [] if hints is None else hints(view))

    return _made(run, operation, options, help=help, example=example, name=name, cls=cls)


def _made(
    run: Callable[..., None],
    operation: str,
    options: Sequence[Option],
    *,
    help: str,  # noqa: A002 - the name in click
    example: str,
    name: str | None,
    cls: type[click.Command],
) -> click.Command:
    """Make a command with these options in the given order, then ``--json``."""
    function: Any = run
    for option in reversed((*options, json_option, click.pass_obj)):
        function = option(function)
    own = name or operation.rpartition(".")[2].replace("_", "-")
    made = click.command(own, cls=cls, help=help, epilog=f"Example: phaseline {example}")(function)
    vars(made)["operation"] = operation
    return made


def ask(client: Client, operation: str, words: Words) -> Any:
    """Call the method of an operation with the given arguments."""
    noun, _, verb = operation.rpartition(".")
    method = getattr(getattr(client, noun) if noun else client, verb)
    code = method.__func__.__code__
    if not code.co_flags & VARIABLE:
        return method(**words)
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    given = dict(words)
    placed = [given.pop(each) for each in code.co_varnames[1 : code.co_argcount]]
    return method(*placed, *given.pop(rest), **given)


def page_of(key: str) -> Callable[[Any], object]:
    """Return a function that makes the JSON document of a page: its items under ``key``, and their total."""
    return lambda page: {key: page.items, "total": page.total}


def list_of(key: str) -> Callable[[Any], object]:
    """Return a function that makes the JSON document of a list, with the items under ``key``."""
    return lambda found: {key: found}


def counted(key: str) -> Callable[[Any], object]:
    """Return a function that makes the JSON document of a list: its items under ``key``, and their number."""
    return lambda found: {key: found, "total": len(found)}


def is_good(found: Any) -> int:
    """Return exit code 0 for an answer that is good, otherwise 1."""
    return 0 if found.is_good else 1
