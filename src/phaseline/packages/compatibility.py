"""Compatibility of packages that are used together."""

from __future__ import annotations

from collections.abc import Sequence

from phaseline.model.packages.package import Component, Package, RelatedComponents
from phaseline.model.problems.problem import Place, Problem


def overlaps(packages: Sequence[Package]) -> tuple[Problem, ...]:
    """Return a problem for everything that two packages both define: a granular task, role, volume or network role (F25)."""
    found: list[Problem] = []
    seen: dict[tuple[str, str], Package] = {}
    for package in packages:
        for kind, file, name in _brought(package):
            other = seen.setdefault((kind, name), package)
            if other is not package:
                message = f"{other} and {package} both have the {kind} '{name}'"
                mend = f"disable one of the two, or rename the {kind} in one of them"
                found.append(Problem("PL-F016", message, mend, Place(file, subject=str(package))))
    return tuple(found)


def _brought(package: Package) -> list[tuple[str, str, str]]:
    """Return [(kind, file, name)] of everything in a package that no other package may define as well."""
    documents = package.documents
    volumes = documents.get("volumes.yaml")
    network_roles = documents.get("network_roles.yaml")
    brought = [("deployment task", "deployment_tasks.yaml", task.id) for task in package.granular_tasks]
    brought += [("node role", "node_roles.yaml", role.id) for role in package.node_roles]
    rows = volumes.get("volumes") if isinstance(volumes, dict) else None
    brought += [("volume", "volumes.yaml", name) for name in _ids(rows)]
    return brought + [("network role", "network_roles.yaml", name) for name in _ids(network_roles)]


def _ids(rows: object) -> list[str]:
    items = rows if isinstance(rows, list) else []
    return [str(item["id"]) for item in items if isinstance(item, dict) and "id" in item]


def misfits(packages: Sequence[Package]) -> tuple[Problem, ...]:
    """Return problems of components that exclude one another, or need others that no package provides."""
    found: list[Problem] = []
    brought = [(package, component) for package in packages for component in package.components]
    for package, component in brought:
        for related in component.incompatible:
            for other, against in brought:
                if against is not component and _means(related, against):
                    found.append(_misfit(package, component, f"cannot be with {against.name} of {other}", related))
        for related in component.requires:
            if not any(_means(related, other) for _, other in brought if other is not component):
                found.append(_misfit(package, component, f"requires {related.name}, which no package brings", related))
    return tuple(found)


def _means(related: RelatedComponents, component: Component) -> bool:
    """Return whether ``related``, whose name may end in ``*``, refers to the component."""
    if related.name.endswith("*"):
        return component.name.startswith(related.name[:-1])
    return component.name == related.name


def _misfit(package: Package, component: Component, what: str, related: RelatedComponents) -> Problem:
    message = f"{package}: component {component.name} {what}"
    mend = related.message or "enable other packages together"
    return Problem("PL-F017", message, mend, Place("components.yaml", subject=str(package)))
