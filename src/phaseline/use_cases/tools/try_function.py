"""Try a function of a plugin with made-up items, without a plan and without storing anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.app.callers import make_caller
from phaseline.calls.batches import trial_call
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import declaration_of
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.loading import load_errors
from phaseline.use_cases.loading.blueprint_loading import raise_if_plugins_missing

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.calls.batches.trial_call import Tried as Tried  # noqa: PLC0414 - exported again: CLI and client import only use cases
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.code_location import CodeLocation

MOST_ITEMS = 10_000


@frozen
class MadeUp:
    """Made-up data that each of ``count`` items gets. ``target`` has the target's properties for a relationship."""

    properties: Mapping[str, Value] = field(default_factory=dict)
    inputs: Mapping[str, Value] = field(default_factory=dict)
    runtime_properties: Mapping[str, Value] = field(default_factory=dict)
    target: Mapping[str, Value] | None = None
    count: int = 1


@frozen
class Attempt:
    """Result of trying a function. ``calls`` is the number of calls made.

    ``form`` is how an engine calls it: in bulk, each member alone, or with ``ctx`` if it declares nothing.
    """

    function: str
    form: Literal["bulk", "each", "ctx"]
    is_repeatable: bool
    calls: int
    items: Sequence[Tried]

    @property
    def is_good(self) -> bool:
        """Return True if every item completed, or asked to be called again."""
        return all(item.is_good for item in self.items)


def try_function(ctx: RequestContext, function: str, given: MadeUp, *, plugin_folders: Sequence[str] = ()) -> Attempt:
    """Call ``module:function`` with made-up items as an engine would; the current folder is searched as well.

    Raises: PL-O002 if the module or the function cannot be loaded, PL-O003 for a folder that does not exist.
    """
    raise_if_plugins_missing(plugin_folders)
    code = ctx.app.code_places(str(Path.cwd() / "blueprint.yaml"), (*plugin_folders, "."))
    implementation = function.replace(":", ".")
    found = _load(ctx, implementation, code)
    declaration = declaration_of(found)
    form: Literal["bulk", "each", "ctx"] = "ctx" if declaration is None else "bulk" if declaration.bulk else "each"
    subject = trial_call.Subject("item", given.properties, given.runtime_properties)
    target = None if given.target is None else trial_call.Subject("target", given.target)
    members = [trial_call.TrialMember(subject, given.inputs, target=target)] * given.count
    items = trial_call.Trial(members, code=code, implementation=implementation).call(found, CallerRegistry(make_caller))
    return Attempt(
        function,
        form,
        declaration is not None and declaration.repeatable,
        1 if form == "bulk" else given.count,
        items,
    )


def _load(ctx: RequestContext, implementation: str, code: CodeLocation) -> Callable[..., object]:
    """Import the function and return it. Raises: PL-O002."""
    function, error = guarded_call(ctx.catalog.load, implementation, code)
    if function is None:
        assert error is not None, "what gives no function has raised"
        raise ProblemsError([load_errors.load_problem(implementation, error, code)]) from error
    return function
