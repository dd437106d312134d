"""The declaration of a hook class, read once; its problems are found here and never stop other classes."""

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
"""What makes the object of a class; raises what importing it raises."""


@frozen
class KnownHook:
    """A hook class of the registry. ``fault``: why it cannot be used; empty: it can.

    ``actions``: the only ones it is called for; none: for all. ``methods``: those of the three that it has.
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
        """Its name, which others may have, too."""
        return self.entry.name

    @property
    def order(self) -> tuple[bool, float, str, str, str]:
        """What the registry is sorted by: ordinal, name, distribution, class. Those that cannot be used come last."""
        entry = self.entry
        return self.fault != "", self.ordinal, entry.name, entry.distribution, entry.target

    def called_as(self, action: str, depth: int = 0) -> tuple[str, ...]:
        """The actions that it receives, one call each, for an action on a deployment at this depth; empty: it is not called."""
        if not action or (depth and not self.nested):
            return ()
        names = heat_actions(action) if self.entry.is_heat else (action,)
        return tuple(name for name in names if not self.actions or name in self.actions)

    def pinned(self, name: str, action: str, *, is_verified: bool = False) -> PinnedHookClass:
        """What an execution keeps of it, to call it as ``name``."""
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
    """The class as it describes itself, or with what is wrong with it: ``module:Class`` is imported and made."""
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
    """A class declares an invalid value; the text names it."""


def _ordinal(one: object) -> float:
    """What it answers, once. Raises ``Unsuitable`` if that is no finite number, and what it raises itself."""
    ask = getattr(one, "get_ordinal", None)
    if not callable(ask):
        return ORDINAL
    said: object = ask()
    if isinstance(said, bool) or not isinstance(said, Real | Decimal):
        raise Unsuitable(f"get_ordinal returned {said!r} ({type(said).__name__}), which is no number")
    return _as_plain(said)


def _as_plain(said: Real | Decimal) -> float:
    """A number of any kind (a fraction, a decimal, one of numpy) as one that is compared and stored with all others."""
    try:
        found = int(said) if isinstance(said, Integral) else float(said)
        is_finite = math.isfinite(found)
    except (OverflowError, ValueError):  # too large for a float, or a decimal that signals
        is_finite = False
    if not is_finite:
        raise Unsuitable(f"get_ordinal returned {said!r}, which is no finite number")
    return found


_FLAGS = (("critical", True), ("nested", True), ("per_execution", False), ("optional", False), ("momentary", False))
"""(attribute that is True or False, its default)."""


def _attributes(one: object, entry: HookEntry) -> Mapping[str, Value | tuple[str, ...]]:
    """Its declared attributes. Classes of Heat's group do not have them, and may use the names for something else."""
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
    """The last line of the traceback: the type of an exception and its message.

    >>> last_line(ValueError("no quota file"))
    'ValueError: no quota file'
    """
    if isinstance(error, Unsuitable):
        return str(error)
    lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
    return lines[-1].rpartition("phaseline.")[2] if lines else type(error).__name__
