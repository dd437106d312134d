"""Reads what a hook class declares about itself.

A problem of one class is stored with it and never stops other classes.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING

from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.hooks.discovery import HookEntry
from phaseline.hooks.lifecycle_hook import ORDINAL, LifecycleHook
from phaseline.hooks.method_arguments import ARGUMENTS, POST, PRE, PREVIEW, takes
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.lifecycle_actions import ACTIONS, WORKFLOW, heat_actions
from phaseline.model.execution.pre_post import HOOK_TIMEOUT_S, PinnedHookClass

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

KNOWN_ACTIONS = frozenset({*ACTIONS.values(), WORKFLOW})

Load = Callable[[PinnedHookClass], Callable[[], object]]
"""Function that imports a hook class and returns a function that makes its objects; it raises what
the import raises.
"""


@frozen
class KnownHook:
    """A hook class of the registry. ``fault`` is why the class cannot be used; it is empty for a usable class.

    ``actions``: the actions for which the class is called; empty for all. ``methods``: those hook methods that the
    class has.
    """

    entry: HookEntry
    ordinal: float = ORDINAL
    methods: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    critical: bool = True
    timeout_s: float = HOOK_TIMEOUT_S
    nested: bool = True
    per_execution: bool = False
    optional: bool = False
    momentary: bool = False
    fault: str = ""

    @property
    def name(self) -> str:
        """The name of the class, which need not be unique."""
        return self.entry.name

    @property
    def order(self) -> tuple[bool, float, str, str, str]:
        """Sort key of the registry: ordinal, name, distribution, class. Classes that cannot be used come last."""
        entry = self.entry
        return self.fault != "", self.ordinal, entry.name, entry.distribution, entry.target

    def called_as(self, action: str, depth: int = 0) -> tuple[str, ...]:
        """Return the names of the actions for which the class is called when ``action`` is run on a deployment.

        The class is called once for each name, and not at all if there is none. ``depth`` is the number of deployments
        that contain this one as a component.
        """
        if not action or (depth and not self.nested):
            return ()
        names = heat_actions(action) if self.entry.is_heat else (action,)
        return tuple(name for name in names if not self.actions or name in self.actions)

    def pinned(self, name: str, action: str, *, is_verified: bool = False) -> PinnedHookClass:
        """Return the record of this class that an execution stores; ``name`` is unique among the execution's hooks."""
        return altered(
            _unread(self.entry),
            name=name,
            action=action,
            ordinal=self.ordinal,
            has_pre=PRE in self.methods,
            has_post=POST in self.methods,
            critical=self.critical,
            timeout_s=self.timeout_s,
            per_execution=self.per_execution,
            is_verified=is_verified,
        )


def read(entry: HookEntry, load: Load) -> KnownHook:
    """Import a hook class, make an object of it, and return what it declares; if this fails, return only the fault."""
    module, _, name = entry.target.partition(":")
    if not module or not name:
        return KnownHook(entry, fault=f"'{entry.target}' is not of the form module:Class")
    known, error = guarded_call(_asked, entry, load)
    if known is None:
        assert error is not None, "an attempt gives a value or an error"
        return KnownHook(entry, optional=entry.optional, fault=last_line(error))
    return known


def _asked(entry: HookEntry, load: Load) -> KnownHook:
    maker = load(_unread(entry))
    one = maker()
    methods = tuple(name for name in ARGUMENTS if callable(getattr(one, name, None)))
    for name in methods:
        if not takes(getattr(one, name), len(ARGUMENTS[name])):
            raise Unsuitable(
                f"{name} takes no {len(ARGUMENTS[name])} arguments by position ({', '.join(ARGUMENTS[name])})"
            )
    known = KnownHook(entry, _ordinal(one), methods, optional=entry.optional)
    if getattr(type(one), PREVIEW, None) is LifecycleHook.do_preview_op:  # it does not override the preview
        known = altered(known, methods=tuple(name for name in methods if name != PREVIEW))
    return known if entry.is_heat else altered(known, **_attributes(one, entry))


def _unread(entry: HookEntry) -> PinnedHookClass:
    return PinnedHookClass(
        entry.name,
        entry.target,
        "",
        key=entry.key,
        folder=entry.folder,
        is_heat=entry.is_heat,
        options=entry.options,
        settings=entry.settings,
    )


class Unsuitable(Exception):
    """Raised if a hook class declares an invalid value; the text describes the value."""


def _ordinal(one: object) -> float:
    """Return the result of ``get_ordinal``, or the default if there is no such method.

    Raises ``Unsuitable`` if the result is no finite number, and whatever ``get_ordinal`` raises.
    """
    ask = getattr(one, "get_ordinal", None)
    if not callable(ask):
        return ORDINAL
    said: object = ask()
    if isinstance(said, bool) or not isinstance(said, Real | Decimal):
        raise Unsuitable(f"get_ordinal returned {said!r} ({type(said).__name__}), which is no number")
    return _as_plain(said)


def _as_plain(said: Real | Decimal) -> float:
    """Return a number of any kind (a fraction, a decimal, a numpy number) as int or float, so that it can be compared
    and stored.

    Raises ``Unsuitable`` if it is not finite.
    """
    try:
        found = int(said) if isinstance(said, Integral) else float(said)
        is_finite = math.isfinite(found)
    except (OverflowError, ValueError):  # too large for a float, or a decimal that signals
        is_finite = False
    if not is_finite:
        raise Unsuitable(f"get_ordinal returned {said!r}, which is no finite number")
    return found


_FLAGS = (("critical", True), ("nested", True), ("per_execution", False), ("optional", False), ("momentary", False))
"""Attributes of a hook class that must be True or False: (name, default)."""


def _attributes(one: object, entry: HookEntry) -> Mapping[str, Value | tuple[str, ...]]:
    """Return the declared attributes of a hook class. Raises ``Unsuitable`` for an invalid value.

    Not used for classes of Heat's group, which may use these names for something else.
    """
    found: dict[str, Value | tuple[str, ...]] = {}
    for name, default in _FLAGS:
        said = getattr(one, name, default)
        if not isinstance(said, bool):
            raise Unsuitable(f"{name} is {said!r}, and has to be True or False")
        found[name] = said
    found["optional"] = found["optional"] or entry.optional
    timeout = getattr(one, "timeout", HOOK_TIMEOUT_S)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise Unsuitable(f"timeout is {timeout!r}, and has to be a number of seconds above 0")
    found["timeout_s"] = timeout
    found["actions"] = _actions(getattr(one, "actions", ()))
    return found


def _actions(said: object) -> tuple[str, ...]:
    if isinstance(said, str) or not isinstance(said, set | frozenset | tuple | list):
        raise Unsuitable(f"actions is {said!r}, and has to be a set of names such as 'CREATE'")
    unknown = [name for name in said if name not in KNOWN_ACTIONS]
    if unknown:
        names = ", ".join(sorted(KNOWN_ACTIONS))
        raise Unsuitable(f"actions has {unknown[0]!r}, which is no action; they are: {names}")
    return tuple(sorted(said))


def last_line(error: BaseException) -> str:
    """Return the type of an exception and its message, as in the last line of a traceback.

    >>> last_line(ValueError("no quota file"))
    'ValueError: no quota file'
    """
    if isinstance(error, Unsuitable):
        return str(error)
    lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
    return lines[-1].rpartition("phaseline.")[2] if lines else type(error).__name__
