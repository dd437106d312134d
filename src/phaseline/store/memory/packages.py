"""Plugin packages of the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.packages.installed import PackageRow, PackageUse, PackageUser
from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
from phaseline.ports.clock import Clock
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.sql.content_files import TEXTS

RETRIED = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)


@dataclass
class PackageTables:
    """The packages of all tenants: rows by number with their tenants, and what belongs to them."""

    rows: dict[int, PackageRow] = field(default_factory=dict)
    tenants: dict[int, str] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    last: int = 0
    files: dict[int, Sequence[StoredFile]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    uses: dict[int, dict[int, PackageUse]] = field(default_factory=dict)


class MemoryPackages:
    """Packages in a store in memory: the methods of the port ``PackageShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        living: Callable[[], Mapping[int, str]],
        refuse_open: Callable[[int], None],
        executions: Callable[[], Sequence[ExecutionRow]],
        clock: Clock,
        own: MemoryTenantRows,
        whole: MemoryPackages | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants.

        ``living`` returns {number: name} of deployments that are not deleted. ``refuse_open`` raises PL-C016 while an
        execution of a deployment is open. ``executions`` returns all executions.
        """
        self._changing = changing
        self._living = living
        self._refuse_open = refuse_open
        self._executions = executions
        self._clock = clock
        self._own = own
        self.tables: PackageTables = PackageTables() if whole is None else whole.tables

    def _found(self) -> list[PackageRow]:
        """Return the rows that may be found, including removed ones."""
        owners = self.tables.tenants
        return [row for number, row in list(self.tables.rows.items()) if self._own.has(owners[number])]

    def _is_own(self, package: int) -> bool:
        return package in self.tables.rows and self._own.has(self.tables.tenants[package])

    def _uses_of(self, deployment: int) -> dict[int, PackageUse]:
        return self.tables.uses.get(self._own.deployment(deployment), {})

    def all(self) -> Sequence[PackageRow]:
        """Return the installed packages, sorted by name and then by time of installation."""
        found = (row for row in self._found() if row.number not in self.tables.removed)
        return sorted(found, key=lambda row: (row.name, row.number))

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        contents = self._contents()
        return [digest for digest in digests if digest not in contents]

    def _contents(self) -> Mapping[str, bytes]:
        """Return {digest: content} of the files of packages that may be found."""
        if self._own.tenant is None:
            return self.tables.contents
        found = {file.digest for row in self._found() for file in self.tables.files[row.number]}
        return {digest: self.tables.contents[digest] for digest in found}

    def add(
        self,
        new: PackageRow,
        files: Sequence[StoredFile],
        contents: Mapping[str, bytes],
        *,
        replaces: int = 0,
        folders: Sequence[str] = (),
    ) -> PackageRow | None:
        """Install a package, removing the package with number ``replaces``, if given.

        Return None if the name and version are already installed, or if the package ``replaces`` is not installed any
        more.
        """
        with self._changing():
            key = (new.name, new.version)
            tables, installed = self.tables, self.all()
            named = [row for row in installed if tables.tenants[row.number] == self._own.named]
            if any((row.name, row.version) == key and row.number != replaces for row in named):
                return None
            if replaces and all(row.number != replaces for row in installed):
                return None
            lacking = [file.digest for file in files if file.digest not in {**self._contents(), **contents}]
            if lacking:
                raise LookupError(f"content {lacking[0]} was removed meanwhile")
            tables.last += 1
            row = tables.rows[tables.last] = altered(new, number=tables.last)
            tables.tenants[row.number] = self._own.named
            tables.contents.update(contents)
            tables.files[row.number] = sorted(files, key=lambda file: file.path)
            if replaces:
                tables.removed[replaces] = max(1, self._clock.now())
                for used in tables.uses.values():
                    if (use := used.pop(replaces, None)) is not None:
                        used[row.number] = altered(use, package=row.number, folders=tuple(folders))
            return row

    def files(self, package: int) -> Sequence[StoredFile]:
        """Return the files of a package, sorted by path."""
        return list(self.tables.files[package]) if self._is_own(package) else []

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        contents = self._contents()
        if digest not in contents:
            raise LookupError(f"nothing is stored with the digest {digest}")
        return contents[digest]

    def documents(self, packages: Collection[int]) -> Mapping[int, Mapping[str, bytes]]:
        """Return {package: {path: content}} of all files of packages, where only YAML files have their content."""
        return {
            number: {
                file.path: self.content(file.digest) if file.path.endswith(TEXTS) and file.size_bytes else b""
                for file in self.files(number)
            }
            for number in packages
        }

    def rename(self, package: int, origin: str) -> None:
        """Record ``origin`` as the folder that a package's files came from."""
        with self._changing():
            if self._is_own(package):
                self.tables.rows[package] = altered(self.tables.rows[package], origin=origin)

    def remove(self, package: int) -> Sequence[PackageUser]:
        """Remove a package. If deployments use it, return these users and remove nothing."""
        with self._changing():
            users = self.users(package)
            if not users and self._is_own(package):
                self.tables.removed.setdefault(package, max(1, self._clock.now()))
            return users

    def users(self, package: int) -> Sequence[PackageUser]:
        """Return the deployments that use a package and are not deleted, sorted by name."""
        found = (
            PackageUser(name, used[package].is_enabled)
            for number, name in self._living().items()
            if package in (used := self.tables.uses.get(number, {})) and self._is_own(package)
        )
        return sorted(found, key=lambda user: user.deployment)

    def uses(self, deployment: int) -> Sequence[PackageUse]:
        """Return the packages that a deployment uses, sorted by name."""
        return sorted(self._uses_of(deployment).values(), key=lambda use: self.tables.rows[use.package].name)

    def all_users(self) -> Mapping[int, Sequence[PackageUser]]:
        """Return {package: its users, sorted by name}, without packages that have none."""
        return {number: users for number in self.tables.rows if (users := self.users(number))}

    def all_uses(self) -> Sequence[PackageUse]:
        """Return the uses of packages by deployments that are not deleted, by deployment and name of the package."""
        return [use for number in sorted(self._living()) for use in self.uses(number)]

    def use(self, use: PackageUse) -> None:
        """Make a deployment use a package; another version of the package that it uses is replaced."""
        with self._changing():
            self._own.require(self._own.deployment(use.deployment), "deployment")
            if use.deployment not in self._living():
                raise failures.deleted(str(use.deployment))
            self._refuse_open(use.deployment)
            self.add_uses(self._own.named, use.deployment, [use])

    def add_uses(self, tenant: str, deployment: int, added: Iterable[PackageUse]) -> None:
        """Store the packages that a tenant's deployment uses, each in place of another version of it."""
        tables = self.tables
        used = tables.uses.setdefault(deployment, {})
        for use in added:
            if tables.tenants.get(use.package) != tenant or use.package in tables.removed:
                raise failures.package_gone()
            name = tables.rows[use.package].name
            for other in [number for number in used if tables.rows[number].name == name]:
                del used[other]
            used[use.package] = altered(use, deployment=deployment)

    def leave(self, deployment: int, package: int) -> None:
        """Make a deployment stop using a package."""
        with self._changing():
            self._refuse_open(self._own.deployment(deployment))
            self._uses_of(deployment).pop(package, None)

    def find_again(self, folders: Mapping[str, str]) -> None:
        """Replace the folders in which deployments find modules of their packages, {former folder: new folder}."""
        for used in self.tables.uses.values():
            for number, use in used.items():
                if not self._is_own(number):
                    continue
                used[number] = altered(use, folders=tuple(folders.get(folder, folder) for folder in use.folders))

    def found_in(self, row: DeploymentRow) -> DeploymentRow:
        """Return the deployment's row with the folders in which modules of its packages are found."""
        folders = tuple(folder for use in self.uses(row.number) for folder in use.folders)
        return altered(row, code=altered(row.code, packages=folders)) if folders else row

    def forget(self, kept: Collection[int]) -> None:
        """Remove the uses of deployments that are not in ``kept``, for a purge."""
        self.tables.uses = {number: used for number, used in self.tables.uses.items() if number in kept}

    def kept(self) -> Mapping[str, int]:
        """Return {digest: package number} of all packages whose files are still needed."""
        return {row.digest: row.number for row in (*self._found(), *self.all())}

    def collect(self) -> Sequence[str]:
        """Delete replaced and removed packages that nothing needs any more; return their digests."""
        with self._changing():
            living = self._living()
            waiting = [
                row.created_at
                for row in self._executions()
                if row.deployment in living and (not row.status.is_ended or row.status in RETRIED)
            ]
            oldest = min(waiting, default=None)
            tables = self.tables
            removed = [(number, at) for number, at in tables.removed.items() if self._is_own(number)]
            gone = [number for number, at in removed if oldest is None or oldest > at]
            digests = dict.fromkeys(tables.rows[number].digest for number in gone)
            for number in gone:
                del tables.removed[number], tables.rows[number], tables.tenants[number], tables.files[number]
                for used in tables.uses.values():
                    used.pop(number, None)
            needed = {file.digest for files in tables.files.values() for file in files}
            tables.contents = {digest: body for digest, body in tables.contents.items() if digest in needed}
            still = {row.digest for row in self._found()}
            return [digest for digest in digests if digest not in still]
