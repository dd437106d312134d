"""Compare a class with the protocol that it implements: names, parameters and defaults of all methods."""

from __future__ import annotations

import inspect


def parameters(owner: type, name: str) -> list[tuple[str, object, object]]:
    """(name, kind, default) of each parameter of a method, without its types; of a property none."""
    member = inspect.getattr_static(owner, name)
    if isinstance(member, property) or not callable(getattr(owner, name)):
        return []
    return [(one.name, one.kind, one.default) for one in inspect.signature(getattr(owner, name)).parameters.values()]


def promised(port: type) -> list[str]:
    """The names that the protocol and its bases declare."""
    names = {name for base in port.__mro__[:-1] for name in vars(base) if not name.startswith("_")}
    return sorted(names - {"register"})


def differences(port: type, implementation: type) -> list[str]:
    """Names that the implementation lacks or declares with other parameters. Attributes of instances count as there."""
    return [
        name
        for name in promised(port)
        if hasattr(implementation, name) and parameters(implementation, name) != parameters(port, name)
    ]
