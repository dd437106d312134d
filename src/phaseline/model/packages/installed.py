"""Installed plugin packages as a store remembers them, and which deployments use them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.stored_blueprints import StoredFile


NATIVE = "10.0.0"
"""Version number of Phaseline's own package format."""


@frozen
class PackageRow:
    """One installed version of a package. ``digest`` covers all its files with their paths.

    ``number`` is given by the store (0: not installed yet). ``format`` is the version of its format, such as ``4.0.0``.
    ``origin`` is the folder of its files or the distribution that contains it; ``sync`` compares the package with it.
    It is empty if only the store has the files. Times are in ms.
    """

    number: int
    name: str
    version: str
    format: str
    digest: str
    title: str
    origin: str
    file_count: int
    size_bytes: int
    installed_at: int
    installed_by: str

    @property
    def is_native(self) -> bool:
        """True for Phaseline's own format; only such packages may contain types, phases and code."""
        return self.format == NATIVE

    def __str__(self) -> str:
        """Return the name by which users refer to the package, such as ``ntp==1.0.2``."""
        return f"{self.name}=={self.version}"


@frozen
class PackageUse:
    """The use of a package (by its number) by a deployment. A deployment uses at most one version of each package.

    ``is_enabled``: its tasks run in workflows of the deployment. ``is_imported``: the deployment's blueprint imports
    its types, so its code is needed. ``settings`` are those that a user gave, without defaults. ``folders`` are the
    absolute folders of its modules.
    """

    deployment: int
    package: int
    is_enabled: bool = True
    is_imported: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    at: int = 0
    by: str = ""


@frozen
class PackageUser:
    """A deployment that uses a package. If ``is_enabled`` is False, only its blueprint imports types of the package."""

    deployment: str
    is_enabled: bool


class PackageShelf(Protocol):
    """Storage of packages with all their files. Any process may write; every method is one transaction."""

    def all(self) -> Sequence[PackageRow]:
        """Return the installed packages, by name and then in the order in which they were installed."""
        ...

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those digests whose content the store does not have."""
        ...

    def add(
        self,
        new: PackageRow,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        *,
        replaces: int = 0,
        folders: Sequence[str] = (),
    ) -> PackageRow | None:
        """Install a package. Return None if its name and version exist already, or if ``replaces`` was removed.

        ``replaces`` is the number of the package that it replaces: another version, or the same with other files.
        Deployments that use the old package then use the new one, with these ``folders``. The old files are kept until
        ``collect``. ``contents`` is {digest: bytes}, at least those that the store does not have (otherwise
        ``LookupError``).
        """
        ...

    def files(self, package: int) -> Sequence[StoredFile]:
        """Return the files of a package, by path."""
        ...

    def content(self, digest: str) -> bytes:
        """Return the content of a file with this digest. Raises: ``LookupError`` if there is none."""
        ...

    def documents(self, packages: Collection[int]) -> Mapping[int, Mapping[str, bytes]]:
        """Return {package: {path: content}} of all files of packages, where only YAML files have their content."""
        ...

    def rename(self, package: int, origin: str) -> None:
        """Store another folder as the origin of a package."""
        ...

    def remove(self, package: int) -> Sequence[PackageUser]:
        """Remove a package. If it has users, remove nothing and return the users."""
        ...

    def users(self, package: int) -> Sequence[PackageUser]:
        """Return the deployments that use a package and are not deleted, by name."""
        ...

    def uses(self, deployment: int) -> Sequence[PackageUse]:
        """Return the packages that a deployment uses, sorted by name."""
        ...

    def all_users(self) -> Mapping[int, Sequence[PackageUser]]:
        """Return {package: its users}, as ``users`` does for one, without packages that have none."""
        ...

    def all_uses(self) -> Sequence[PackageUse]:
        """Return the uses of packages by deployments that are not deleted, by deployment and name of the package."""
        ...

    def use(self, use: PackageUse) -> None:
        """Store that a deployment uses a package. It replaces the use of another version of the package, with its settings.

        Raises: PL-C016 while an execution of the deployment is open, PL-C010 if it was deleted, PL-F062 if the package
        was removed.
        """
        ...

    def leave(self, deployment: int, package: int) -> None:
        """End the use of a package by a deployment.

        Raises: PL-C016 while an execution of the deployment is open.
        """
        ...

    def find_again(self, folders: Mapping[str, str]) -> None:
        """Replace the folders in which modules are searched, given as {old folder: new folder}, after the store was moved."""
        ...

    def kept(self) -> Mapping[str, int]:
        """Return {digest: number} of packages whose files are needed: installed, or replaced but perhaps used by an execution."""
        ...

    def collect(self) -> Sequence[str]:
        """Delete replaced or removed packages that are no longer needed; return their digests.

        An open execution, or a failed or canceled one that may be retried, keeps the files that existed when it was created.
        """
        ...


@frozen
class StoredDefinition:
    """The definition files of one version of one plugin. ``files`` is {file name: digest of its content}."""

    name: str
    version: str
    files: Mapping[str, str]


class DefinitionShelf(Protocol):
    """The definition files in a store."""

    def all(self) -> Sequence[StoredDefinition]:
        """Return the versions of all plugins, sorted by name and version."""
        ...

    def add(self, new: StoredDefinition, contents: Mapping[str, bytes]) -> None:
        """Store a version; one of the same name and version is replaced as a whole.

        ``contents`` is {digest: content} of all its files.
        """
        ...

    def remove(self, name: str, version: str) -> bool:
        """Remove a version and the contents that only it uses; return False if there was none."""
        ...

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        ...
