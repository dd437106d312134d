"""The decorator that declares a function as a phase, with the same attributes as a ``.cfg`` file.

The decorator only attaches what it was given; the definition is read from the source text without running it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from phaseline.model.blueprint.operation_declaration import as_phase

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

PHASE_ATTRIBUTE = "__phaseline_phase__"
F = TypeVar("F", bound=Callable[..., Any])
Names = str | Sequence[str]

SPELLINGS: Mapping[str, str] = {
    "name": "PhaseName",
    "states": "HandlesStates",
    "resource_type": "ResourceType",
    "provider": "HandlesProvider",
    "constraint": "ResourceConstraint",
    "depends_on": "Phase.Dependencies",
    "description": "Phase.Description",
    "plugin": "Name",
    "version": "Version",
    "disabled": "Disabled",
    "imports": "Dependencies",
}
"""{argument: attribute of a ``.cfg``}"""


def phase(
    *,
    name: str,
    states: Names,
    resource_type: Names,
    provider: Names = (),
    constraint: str = "",
    depends_on: Names = (),
    description: str = "",
    plugin: str = "",
    version: str = "",
    disabled: bool = False,
    imports: Names = (),
    attributes: Mapping[str, Value] | None = None,
    **phase_attributes: Value,
) -> Callable[[F], F]:
    """Return the function itself, marked as the code of a phase.

    A function of one argument is called with all resources that are ready, one of two with a resource and its data.
    ``constraint`` is the text of an expression. ``attributes``: the plugin's own. All other arguments are attributes of
    the phase: ``sleep_delay=2`` is ``Phase.SleepDelay = 2``, ``Color="blue"`` is ``Phase.Color = blue``; an expression
    is ``{"$expr": "…"}``. All of them are read from the text, so they must be literals or constants of the module.

    >>> @phase(name="Acme.Create", states="Allocation", resource_type="Cloud.Node", sleep_delay=2)
    ... def handle(handler): ...
    >>> getattr(handle, PHASE_ATTRIBUTE)["name"]
    'Acme.Create'
    """
    given: dict[str, Any] = {
        "name": name,
        "states": states,
        "resource_type": resource_type,
        "provider": provider,
        "constraint": constraint,
        "depends_on": depends_on,
        "description": description,
        "plugin": plugin,
        "version": version,
        "disabled": disabled,
        "imports": imports,
        "attributes": dict(attributes or {}),
        **phase_attributes,
    }

    def mark(target: F) -> F:
        setattr(target, PHASE_ATTRIBUTE, given)
        return as_phase(target)

    return mark


def attribute_name(argument: str) -> str:
    """Return the attribute of a ``.cfg`` file for an argument of the decorator.

    >>> attribute_name("states"), attribute_name("sleep_delay"), attribute_name("Color")
    ('HandlesStates', 'Phase.SleepDelay', 'Phase.Color')
    """
    if argument in SPELLINGS:
        return SPELLINGS[argument]
    if not argument[:1].islower():
        return f"Phase.{argument}"
    return "Phase." + "".join(word[:1].upper() + word[1:] for word in argument.split("_"))
