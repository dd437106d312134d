"""Check the arguments that Python programs pass, by the signatures of the methods, before anything is done.

``checked`` derives a class whose methods first compare each argument with its annotation. The annotations are texts,
which cost nothing until a call; options that many methods share are declared in a ``TypedDict``. Texts with a syntax of
their own are parsed, and numbers are compared with bounds. Example: ``install(…, task_retries="x",
on_failure="stopping")`` raises a problem for each of the two arguments, and nothing is stored. A ``pathlib`` path
counts as its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from math import isfinite
from types import FunctionType
from typing import TYPE_CHECKING, ForwardRef, ParamSpec, TypeVar

from phaseline.client import option_types
from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from typing import Any

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
SHARED = "options"
"""Name of the ``**`` parameter for options that many methods share."""
UNPACKED = re.compile(r"Unpack\[(\w+)\]")
VARIABLE = 4
"""Flag in ``co_flags`` of a function that takes ``*args``, as defined by ``inspect``."""
DEEPEST = 100
"""Greatest allowed nesting of a value; values with deeper nesting may contain themselves."""
LONGEST_BITS = 14_000
"""Greatest allowed size of a whole number, in bits; Python cannot write larger ones as text."""
LEAST = {"task_retries": -1, "subgraph_retries": -1, "limit": 0, "drain": 0, "older": 0, "since": 0}
"""{argument: its smallest valid number}."""
ALIASES = {
    "OnFailure": "phaseline.use_cases.prepare.options",
    "IfBusy": "phaseline.model.execution.execution",
    "Method": "phaseline.use_cases.tools.hook_trial",
    "Named": "phaseline.use_cases.tools.completion",
}
"""{name of an annotation: the module with the ``Literal`` of its allowed words}."""
RENAMED: Mapping[str, Mapping[str, str]] = {
    "resources": {"where": "filter", "everybody": "all", "changes": "set"},
    "phases.list": {"resource_type": "type"},
    "executions.start": {"allow_custom": "allow_custom_parameters"},
    "blueprints.upload": {"main_file": "main"},
    "deployments.create": {"name": "deployment"},
    "deployments.adopt": {"name": "deployment"},
    "deployments.abandon": {"name": "deployment"},
    "deployments.export": {"name": "deployment", "only_others": "heat"},
    "executions.install": {"name": "deployment"},
    "executions.uninstall": {"name": "deployment"},
    "executions.purge": {"older_s": "older"},
    "engine.stop": {"drain_s": "drain"},
    "plugins.enable": {"settings": "set"},
    "plugins.enabled": {"everything": "all"},
}
"""{noun or method: {old name of an argument: its present name, which is that of the command's option}}."""
SPLIT: Mapping[str, tuple[str, Sequence[str]]] = {
    "instances.restrict": ("actions", ("forbid", "lift", "as_blueprint")),
    "executions.cancel": ("how", ("force", "kill")),
    "executions.list": ("wanted", ("status", "workflow", "by", "since", "text", "caused_by")),
    "executions.logs": ("wanted", ("node", "phase", "level", "text")),
    "executions.events": ("wanted", ("node", "phase", "level", "text")),
}
"""{method: (an old argument, the arguments that replace it and are named like the command's options)}."""
REMOVED_IN = "0.3"
"""Version of Phaseline that will no longer accept the old names of arguments."""
CLASSES = frozenset({"LineFilter", "ExecutionFilter"})
"""Names of Phaseline's classes whose objects are still accepted as values of old arguments."""
CANCELING = ("wait", "force", "kill")
FIELDS = {"by": "actor"}
"""{new argument: name of its field in the class of the old argument, if that name differs}."""


def checked(kind: type[T], noun: str) -> type[T]:
    """Return a subclass whose public methods check their arguments first. ``noun``: its name on the client."""
    methods = {
        name: looking(f"{noun}.{name}")(method)
        for name, method in vars(kind).items()
        if isinstance(method, FunctionType) and not name.startswith("_")
    }
    told = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    made: type[T] = type(kind.__name__, (kind,), {**told, **methods})
    return made


def looking(where: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions, so that they check their arguments before anything else.

    Invalid arguments raise ``ProblemsError`` with all of them. ``where``: name of the function in messages.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        placed = code.co_varnames[: code.co_argcount]
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :][:1] if code.co_flags & VARIABLE else ()
        wanted = arguments_of(function)
        noun = where.partition(".")[0]
        split = SPLIT.get(where)
        former = {old: new for old, new in {**RENAMED.get(noun, {}), **RENAMED.get(where, {})}.items() if new in wanted}

        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> R:
            if split is not None and split[0] in named:
                named = _split(where, named, split)  # type: ignore[assignment]  # the method's own arguments
            if not former.keys().isdisjoint(named):
                named = _renamed(where, named, former)  # type: ignore[assignment]  # the method's own arguments
            unknown = named.keys() - wanted.keys()
            if unknown:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{min(unknown)}'")
            names = (*placed, *rest * (len(given) - len(placed)))
            told = [(name, _plain(value, wanted.get(name, ""))) for name, value in zip(names, given, strict=False)]
            said = {name: _plain(value, wanted.get(name, "")) for name, value in named.items()}
            problems = [
                problem
                for name, value in (*told, *said.items())
                if name in wanted
                for problem in _problems(where, name, value, wanted[name])
            ]
            if problems:
                raise ProblemsError(problems)
            first = [value for _, value in told]
            return function(*first, *given[len(first) :], **said)  # type: ignore[arg-type]  # checked above

        shared = _shared(function)
        if shared is not None:
            call.__doc__ = f"{function.__doc__}\n\n``options``: {shared.__doc__}"
        return call

    return wrap


def arguments_of(function: Callable[..., object]) -> Mapping[str, str]:
    """Return {argument: its annotation} of a method; each shared option is an argument of its own."""
    own: dict[str, str] = {**function.__annotations__}
    shared = _shared(function)
    if shared is not None:
        del own[SHARED]
        own |= {
            name: told.__forward_arg__ if isinstance(told, ForwardRef) else told
            for name, told in shared.__annotations__.items()
        }
    return own


def _shared(function: Callable[..., object]) -> type | None:
    """Return the ``TypedDict`` of the options that a method shares with others, or None if it shares none."""
    found = UNPACKED.fullmatch(function.__annotations__.get(SHARED, ""))
    return getattr(option_types, found[1]) if found else None


def _renamed(where: str, named: Mapping[str, object], former: Mapping[str, str]) -> dict[str, object]:
    """Return the arguments under their present names, with a warning for each old name.

    Raises: TypeError if an argument is given under both names.
    """
    import warnings

    found = dict(named)
    for old, new in former.items():
        if old in found:
            if new in found:
                raise TypeError(f"{where}() got '{old}' and '{new}', which mean the same")
            message = (
                f"the argument '{old}' of {where} is called '{new}' now; the old name will be removed in {REMOVED_IN}"
            )
            warnings.warn(message, DeprecationWarning, stacklevel=3)
            found[new] = found.pop(old)
    return found


def _split(where: str, named: Mapping[str, object], split: tuple[str, Sequence[str]]) -> dict[str, object]:
    """Return the arguments with an old one split into those that replace it, with a warning.

    Raises: TypeError if the old argument and one that replaces it are given.
    """
    import warnings

    old, words = split
    found = dict(named)
    twice = [word for word in words if word in found and not (word == "status" and found[word] is None)]
    if twice:
        raise TypeError(f"{where}() got '{old}' and '{twice[0]}', which mean the same")
    now = ", ".join(f"'{word}'" for word in words)
    message = f"the argument '{old}' of {where} is replaced by {now}; the old name will be removed in {REMOVED_IN}"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    value: Any = found.pop(old)
    if old == "how":
        if value not in CANCELING:
            wanted = f"one of {', '.join(CANCELING)}"
            raise ProblemsError([_problem(where, old, _given_text(value, wanted), wanted)])
        said = {} if value == "wait" else {value: True}
    elif old == "actions":
        said = {"as_blueprint": True} if value is None else {"forbid": value}
    elif value is None:
        said = {}
    else:
        kind = "ExecutionFilter" if "status" in words else "LineFilter"
        if flaw := flaw_of(kind, value):
            raise ProblemsError([_problem(where, old, _kind_of(value), flaw)])
        said = {word: getattr(value, FIELDS.get(word, word)) for word in words}
    return {**found, **said}


def _plain(value: Any, wanted: str) -> Any:
    """Return the value with ``pathlib`` paths as texts, if texts are expected."""
    if "str" not in wanted:
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple) and any(isinstance(one, os.PathLike) for one in value):
        return [os.fspath(one) if isinstance(one, os.PathLike) else one for one in value]
    return value


def _problems(where: str, name: str, value: object, wanted: str) -> Iterator[Problem]:
    """Yield the problems of one argument, by its annotation ``wanted`` and its name."""
    kinds = wanted.split(" | ")
    flaws = [flaw_of(kind, value) for kind in kinds]
    if all(flaws) and isinstance(value, Mapping) and kinds[0].startswith("Mapping[str, "):
        yield from _in_mapping(where, name, value, kinds[0].removeprefix("Mapping[str, ").removesuffix("]"))
        return
    if all(flaws):
        yield _problem(where, name, _given_text(value, flaws[0]), flaws[0])
        return
    if value is None:
        return
    least = LEAST.get(name)
    if least is not None and isinstance(value, int | float) and value < least:
        yield _problem(where, name, f"{value}", f"a number from {least} on")
    yield from _misread(where, name, value)


def _in_mapping(where: str, name: str, value: Mapping[Any, object], kind: str) -> Iterator[Problem]:
    """Yield the problems of the names and values of a mapping."""
    for key, one in value.items():
        if not _is_text(key):
            yield _problem(where, f"a name in {name}", _kind_of(key), "a text")
        elif flaw := flaw_of(kind, one):
            yield _problem(where, f"{name}[{key!r}]", _kind_of(one), flaw)


def _misread(where: str, name: str, value: Any) -> Iterator[Problem]:
    """Yield the problems of an argument that is a text with a syntax of its own, such as a time span."""
    try:
        if name == "stop_after":
            from phaseline.model.execution.execution import read_limit

            read_limit(value)
        elif name in {"older", "since"} and isinstance(value, str):
            from phaseline.lang.durations import read_age_ms

            read_age_ms(value)
        elif name in {"timeout", "break_timeout"}:
            from phaseline.lang.durations import read_span

            read_span(value)
        elif name == "breakpoints":
            from phaseline.use_cases.prepare.breakpoints import read

            for one in value:
                read(one)
    except ValueError as error:
        yield Problem("PL-C094", f"{name}: {error}", _mend(where, name), Place(subject=where))
    except ProblemsError as error:
        yield from error.problems


def _problem(where: str, name: str, told: str, wanted: str) -> Problem:
    return Problem("PL-C094", f"{name} is {told}, not {wanted}", _mend(where, name), Place(subject=where))


def _mend(where: str, name: str) -> str:
    function = f"open().{where}" if "." in where else where
    return f"see what '{name}' may be: help(phaseline.{function})"


def _given_text(value: object, wanted: str) -> str:
    """Return a description of a refused value for a message.

    If one of several words is expected, this is the value with the most similar word. Otherwise it is only the kind of
    the value, because the value may be a secret.
    """
    if not wanted.startswith("one of ") or not isinstance(value, str):
        return _kind_of(value)
    from phaseline.lang.did_you_mean import did_you_mean

    meant = did_you_mean(value, wanted.removeprefix("one of ").split(", "))
    return f"'{value}' ({meant})" if meant else f"'{value}'"


def flaw_of(kind: str, value: object) -> str:
    """Return what an annotation expects, as words for a message, or "" if the value fits.

    >>> flaw_of("int", 3), flaw_of("int", "x"), flaw_of("Sequence[str]", "ab")
    ('', 'a whole number', 'a list of texts')
    """
    if kind in ALIASES or kind.startswith("Literal["):
        words = _words(kind)
        return "" if value in words else f"one of {', '.join(words)}"
    if kind in CLASSES:
        return "" if any(base.__name__ == kind for base in type(value).__mro__) else f"a {kind}"
    fits, told = KINDS[kind]
    return "" if fits(value) else told


def _words(kind: str) -> tuple[str, ...]:
    """Return the words that an annotation allows."""
    from ast import literal_eval
    from importlib import import_module
    from typing import get_args

    if kind in ALIASES:
        return get_args(getattr(import_module(ALIASES[kind]), kind))
    words = literal_eval(f"({kind.removeprefix('Literal[').removesuffix(']')},)")
    return tuple(map(str, words))


def _is_text(value: object) -> bool:
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def _is_texts(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping) and all(map(_is_text, value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e15


def _is_value(value: object, depth: int = 0) -> bool:
    """Return whether a value can be stored: None, texts, numbers, True, False, and lists and mappings of these."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= LONGEST_BITS
    if isinstance(value, str):
        return _is_text(value)
    if depth == DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(_is_text(name) and _is_value(one, depth + 1) for name, one in value.items())
    return isinstance(value, list | tuple) and all(_is_value(one, depth + 1) for one in value)


def _is_values(value: object) -> bool:
    return isinstance(value, Mapping) and _is_value(value)


def _is_text_by_text(value: object) -> bool:
    return isinstance(value, Mapping) and _is_texts(list(value)) and _is_texts(list(value.values()))


def _is_mappings(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, Mapping) and all(map(_is_values, value))


def _watches(value: object) -> bool:
    return hasattr(value, "begun") and hasattr(value, "ended")


KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "None": (lambda value: value is None, "nothing"),
    "str": (_is_text, "a text"),
    "bool": (lambda value: isinstance(value, bool), "True or False"),
    "int": (_is_whole, "a whole number"),
    "float": (_is_number, "a number"),
    "Value": (_is_value, "made of texts, numbers, lists and mappings with texts as keys"),
    "Sequence[str]": (_is_texts, "a list of texts"),
    "Mapping[str, Value]": (_is_values, "a mapping from texts to texts, numbers, lists and mappings"),
    "Mapping[str, str]": (_is_text_by_text, "a mapping from texts to texts"),
    "Sequence[Mapping[str, object]]": (_is_mappings, "a list of mappings"),
    "Callable[[LeaveRequest], None]": (callable, "a function"),
    "Callable[[Sequence[TypesView]], None]": (callable, "a function"),
    "Callable[[str], None]": (callable, "a function"),
    "Watcher": (_watches, "a watcher (phaseline.app.watcher.Watcher)"),
}
"""{annotation: (function that tests a value, description of the expected kind for messages)}."""
NAMES = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
}


def _kind_of(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, str) and not _is_text(value):
        return "a text with a broken character"
    return NAMES.get(type(value), f"of the class {type(value).__name__}")
