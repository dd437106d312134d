"""Reads a package: parses its files, checks each file by its forms, and makes one ``Package`` from all of them.

All problems are found in one pass; with any error there is no package. Warnings come with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import Problem
from phaseline.packages.format.deployment_tasks import check_granular_tasks, made_granular_tasks
from phaseline.packages.format.format_versions import FILES, GRANULAR, METADATA, SETTINGS, TASKS, Format
from phaseline.packages.format.metadata import check_metadata, format_of, made_releases, title_of
from phaseline.packages.format.native_metadata import made_code, workflows_of
from phaseline.packages.format.node_roles import check_node_roles, made_node_roles
from phaseline.packages.format.package_contents import PackageContents
from phaseline.packages.format.problem_report import FileElement, Findings, PackageFile
from phaseline.packages.format.settings_form import check_elements, check_sections, check_settings, made_form
from phaseline.packages.format.stage_tasks import check_stage_tasks, made_stage_tasks
from phaseline.packages.format.volumes_and_networks import (
    check_components,
    check_network_roles,
    check_volumes,
    made_components,
)
from phaseline.packages.format.yaml_reader import read_source
from phaseline.packages.languages.slow_languages import Slow
from phaseline.packages.lint import warn_of_numbers

_Check: TypeAlias = "Callable[[Any, FileElement, Format], None]"
CHECKS: Final[Mapping[str, _Check]] = {
    SETTINGS: check_settings,
    TASKS: check_stage_tasks,
    GRANULAR: check_granular_tasks,
    "node_roles.yaml": check_node_roles,
    "volumes.yaml": check_volumes,
    "network_roles.yaml": check_network_roles,
    "components.yaml": check_components,
    "nic_config.yaml": check_elements,
    "bond_config.yaml": check_elements,
    "node_config.yaml": check_sections,
}
UNTITLED: Final = "package"


@frozen
class Read:
    """The result of reading: a package and problems; the package is None if one of the problems is an error."""

    package: Package | None
    problems: tuple[Problem, ...] = ()


def read_package(files: Mapping[str, bytes], shown: str = "", slow: Slow | None = None) -> Read:
    """Return the package that the files make. ``files`` is {path with ``/``, relative to the package: content}.

    An empty folder is a path that ends in ``/``. ``shown`` names the package in messages until its real name is read.
    ``slow`` evaluates YAQL and patterns with look-ahead; without it they are refused (PL-F018, PL-F012).
    """
    return _Reading(files, slow).read(shown or UNTITLED)


class _Reading:
    """The reading of one package; its problems are gathered in ``findings``."""

    def __init__(self, files: Mapping[str, bytes], slow: Slow | None = None) -> None:
        self.contents = PackageContents(files)
        self.findings = Findings(slow)
        self.sources: dict[str, PackageFile] = {}
        self.broken: set[str] = set()

    def read(self, shown: str) -> Read:
        self._load()
        metadata = self._root(METADATA)
        package_format = format_of(metadata)
        self._check(metadata, package_format)
        title = title_of(metadata, shown)
        package = None
        if not self.findings.errors_count and package_format is not None:
            package = self._made(metadata, package_format)
            if TASKS in self.sources:
                warn_of_numbers(package, self._spot(TASKS))
        return Read(package, self.findings.problems(title))

    def _load(self) -> None:
        for name in FILES:
            if name in self.contents.files:
                source = read_source(name, self.contents.files[name], self.findings)
                if source is None:
                    self.broken.add(name)
                else:
                    self.sources[name] = source

    def _root(self, name: str) -> Any:
        source = self.sources.get(name)
        return source.document.root if source is not None and source.document is not None else None

    def _spot(self, name: str) -> FileElement:
        return FileElement(self.findings, self.sources.get(name) or PackageFile(name))

    def _check(self, metadata: Any, package_format: Format | None) -> None:
        if METADATA in self.sources and metadata is not None:
            check_metadata(metadata, self._spot(METADATA), self.contents)
        elif METADATA not in self.broken:
            self._complain_of_absence(METADATA, None)
        if package_format is None:
            return
        for name, presence in package_format.files.items():
            if name != METADATA and name not in self.broken:
                self._check_file(name, presence, package_format)
        for name in self.sources:
            if name not in package_format.files:
                mend = "remove it, or write a higher package_version"
                self._spot(name).odd("PL-F056", f"is not read in package_version {package_format.version}", mend)

    def _check_file(self, name: str, presence: str, package_format: Format) -> None:
        value = self._root(name)
        if name not in self.sources:
            if presence.startswith("required"):
                self._complain_of_absence(name, package_format)
        elif value is None and presence.endswith("not empty"):
            mend = "write a list into it; [] if there is nothing to do"
            self._spot(name).wrong("PL-F002", "is empty", mend)
        elif value is not None:
            CHECKS[name](value, self._spot(name), package_format)

    def _complain_of_absence(self, name: str, package_format: Format | None) -> None:
        if name in self.sources:
            self._spot(name).wrong("PL-F002", "is empty", "write name, title, version, package_version and more")
            return
        of = f"package_version {package_format.version}" if package_format is not None else "every package"
        mend = f"put it at the top of the package: {of} needs it" + (
            ", even if it is empty" if name == SETTINGS else ""
        )
        self._spot(name).wrong("PL-F001", "is missing", mend)

    def _made(self, metadata: Mapping[str, Any], package_format: Format) -> Package:
        name, version = metadata["name"], metadata["version"]
        on = workflows_of(metadata)
        read = {file: self._root(file) for file in package_format.files if file in self.sources}
        return Package(
            name,
            version,
            package_format.version,
            metadata["title"],
            metadata["description"],
            tuple(metadata.get("groups") or ()),
            tuple(metadata.get("authors") or ()),
            tuple(metadata.get("licenses") or ()),
            metadata.get("homepage", ""),
            tuple(metadata.get("fuel_version") or ()),
            made_releases(metadata.get("releases")),
            metadata.get("is_hotpluggable", False),
            metadata.get("build_version", ""),
            metadata.get("requires_product", ""),
            made_stage_tasks(cast("Any", read.get(TASKS) or ()), name, version, on),
            made_granular_tasks(cast("Any", read.get(GRANULAR) or ()), name, version, on),
            made_form(read.get(SETTINGS), is_native=package_format.is_native),
            made_node_roles(read.get("node_roles.yaml")),
            made_components(read.get("components.yaml")),
            made_code(metadata, self.contents),
            read,
        )
