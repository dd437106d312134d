"""The store's records after the files: what lies in the folders of plugins is registered, renewed, or forgotten.

A record follows files if it has an ``origin``: it was registered, or made by a sync. What was installed is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.model.frozen import frozen
from phaseline.model.problem import Place, Problem, ProblemsError, fail
from phaseline.use_cases.packages.installing import Wanted, install, tell_engine
from phaseline.use_cases.packages.known import collect, rows
from phaseline.use_cases.packages.naming import read_name
from phaseline.use_cases.packages.removing import in_use

if TYPE_CHECKING:
    from phaseline.model.package_rows import PackageRow
    from phaseline.use_cases.workplace import Workplace

Outcome = Literal["created", "updated", "unchanged", "removed", "kept", "broken"]


@frozen
class SyncRow:
    """What became of one folder or record. ``kept``: its files are gone, but a deployment uses it."""

    package: str
    folder: str
    outcome: Outcome
    problems: Sequence[Problem] = ()


@frozen
class Synced:
    """What a sync came to, by folder and then by name."""

    rows: Sequence[SyncRow]
    looked_at: Sequence[str]

    @property
    def is_good(self) -> bool:
        """True if nothing is broken, and no files are missed."""
        return not any(row.outcome in {"broken", "kept"} for row in self.rows)


def sync(place: Workplace, folders: Sequence[str] = ()) -> Synced:
    """Compare records with files: new ones are registered, changed ones renewed, those without files removed.

    ``folders``: packages, or folders with packages; without any those of the settings. One that is broken does not stop
    the others; a record that a deployment uses is never removed.
    """
    looked_at = [str(Path(folder).absolute()) for folder in folders or place.settings.plugin_folders]
    found: list[SyncRow] = []
    there: set[str] = set()
    for folder in _packages_in(looked_at):
        there.add(str(folder))
        found.append(_followed(place, str(folder)))
    for row in rows(place):
        if row.origin and row.origin not in there and _is_below(row.origin, looked_at):
            found.append(_without_files(place, row))
    return Synced(found, looked_at)


def register(place: Workplace, name: str, folders: Sequence[str] = ()) -> PackageRow:
    """Register the package ``NAME==VERSION`` that lies in a folder of plugins; its files are left where they are.

    Raises: PL-F062 if there is none such, and as ``install``.
    """
    named = read_name(name)
    looked_at = [str(Path(folder).absolute()) for folder in folders or place.settings.plugin_folders]
    if named is None or not named[1]:
        raise fail("PL-F062", f"'{name}' does not say the version", "Write NAME==VERSION.", subject=name)
    for folder in _packages_in(looked_at):
        if _says(folder) == named:
            return install(place, str(folder), Wanted(origin=str(folder))).package
    where = ", ".join(looked_at) or "no folder (see the setting plugins.path)"
    message = f"there is no package '{name}' to be registered; it was looked for in {where}"
    raise fail("PL-F062", message, "Put its folder there, or install it: phaseline plugins install PATH", subject=name)


def _followed(place: Workplace, folder: str) -> SyncRow:
    """A folder with a package, as it lies there now."""
    before = next((row for row in rows(place) if row.origin == folder), None)
    try:
        if before is not None and (said := _says(Path(folder))) is not None and said[0] != before.name:
            raise _renamed(before, said[0], folder)
        came = install(place, folder, _wanted(before, folder))
    except ProblemsError as error:
        return SyncRow(str(before or Path(folder).name), folder, "broken", error.problems)
    if came.package.origin != folder:
        place.store.packages.rename(came.package.number, folder)
    outcome: Outcome = "unchanged" if not came.is_new else "updated" if came.replaced else "created"
    return SyncRow(str(came.package), folder, outcome, came.warnings)


def _wanted(before: PackageRow | None, folder: str) -> Wanted:
    """Whatever the files say now comes in the place of what they said before."""
    return Wanted(renews=0 if before is None else before.number, origin=folder)


def _without_files(place: Workplace, row: PackageRow) -> SyncRow:
    users = place.store.packages.remove(row.number)
    if users:
        return SyncRow(str(row), row.origin, "kept", in_use(row, users).problems)
    collect(place)
    tell_engine(place)
    return SyncRow(str(row), row.origin, "removed")


def _packages_in(folders: Sequence[str]) -> Iterator[Path]:
    from phaseline.catalog.package_files import package_folders

    for folder in dict.fromkeys(folders):
        yield from package_folders(Path(folder))


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _says(folder: Path) -> tuple[str, str] | None:
    """(name, version) of a package, if its metadata can be read at all; they may be wrong."""
    from phaseline.catalog.package_files import MARK
    from phaseline.packages.findings import Findings
    from phaseline.packages.texts import read_source

    try:
        source = read_source(MARK, (folder / MARK).read_bytes(), Findings())
    except OSError:
        return None
    root = source.document.root if source is not None and source.document is not None else None
    return (str(root.get("name")), str(root.get("version"))) if isinstance(root, dict) else None


def _renamed(before: PackageRow, name: str, folder: str) -> ProblemsError:
    message = f"the package in '{folder}' was called '{before.name}' and is called '{name}' now"
    mend = f"A package keeps its name. Put '{name}' into a folder of its own, or remove {before} first."
    return ProblemsError([Problem("PL-F063", message, mend, Place(folder))])
