"""Plugin packages of the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.packages.installed import PackageRow, PackageUse, PackageUser
from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
from phaseline.ports.clock import Clock
from phaseline.store.sql import errors as failures
from phaseline.store.sql.content_files import TEXTS

RETRIED = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)


class MemoryPackages:
    """Packages in a store in memory: the methods of the port ``PackageShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        living: Callable[[], Mapping[int, str]],
        refuse_open: Callable[[int], None],
        executions: Callable[[], Sequence[ExecutionRow]],
        clock: Clock,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data.

        ``living`` returns {number: name} of deployments that are not deleted. ``refuse_open`` raises PL-C016 while an
        execution of a deployment is open. ``executions`` returns all executions.
        """
        self._changing = changing
        self._living = living
        self._refuse_open = refuse_open
        self._executions = executions
        self._clock = clock
        self._rows: dict[int, PackageRow] = {}
        self._removed: dict[int, int] = {}
        self._last = 0
        self._files: dict[int, Sequence[StoredFile]] = {}
        self._contents: dict[str, bytes] = {}
        self._uses: dict[int, dict[int, PackageUse]] = {}

    def all(self) -> Sequence[PackageRow]:
        """Return the installed packages, sorted by name and then by time of installation."""
        found = (row for row in self._rows.values() if row.number not in self._removed)
        return sorted(found, key=lambda row: (row.name, row.number))

    def lacking(self, digests: Sequence[str]) -> Sequence[str]:
        """Return those of the digests whose content is not stored."""
        return [digest for digest in digests if digest not in self._contents]

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
            if any((row.name, row.version) == key and row.number != replaces for row in self.all()):
                return None
            if replaces and all(row.number != replaces for row in self.all()):
                return None
            lacking = [file.digest for file in files if file.digest not in {**self._contents, **contents}]
            if lacking:
                raise LookupError(f"content {lacking[0]} was removed meanwhile")
            self._last += 1
            row = self._rows[self._last] = altered(new, number=self._last)
            self._contents.update(contents)
            self._files[row.number] = sorted(files, key=lambda file: file.path)
            if replaces:
                self._removed[replaces] = max(1, self._clock.now())
                for used in self._uses.values():
                    if (use := used.pop(replaces, None)) is not None:
                        used[row.number] = altered(use, package=row.number, folders=tuple(folders))
            return row

    def files(self, package: int) -> Sequence[StoredFile]:
        """Return the files of a package, sorted by path."""
        return list(self._files.get(package, ()))

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        if digest not in self._contents:
            raise LookupError(f"nothing is stored with the digest {digest}")
        return self._contents[digest]

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
            self._rows[package] = altered(self._rows[package], origin=origin)

    def remove(self, package: int) -> Sequence[PackageUser]:
        """Remove a package. If deployments use it, return these users and remove nothing."""
        with self._changing():
            users = self.users(package)
            if not users:
                self._removed[package] = max(1, self._clock.now())
            return users

    def users(self, package: int) -> Sequence[PackageUser]:
        """Return the deployments that use a package and are not deleted, sorted by name."""
        found = (
            PackageUser(name, used[package].is_enabled)
            for number, name in self._living().items()
            if package in (used := self._uses.get(number, {}))
        )
        return sorted(found, key=lambda user: user.deployment)

    def uses(self, deployment: int) -> Sequence[PackageUse]:
        """Return the packages that a deployment uses, sorted by name."""
        return sorted(self._uses.get(deployment, {}).values(), key=lambda use: self._rows[use.package].name)

    def all_users(self) -> Mapping[int, Sequence[PackageUser]]:
        """Return {package: its users, sorted by name}, without packages that have none."""
        return {number: users for number in self._rows if (users := self.users(number))}

    def all_uses(self) -> Sequence[PackageUse]:
        """Return the uses of packages by deployments that are not deleted, by deployment and name of the package."""
        return [use for number in sorted(self._living()) for use in self.uses(number)]

    def use(self, use: PackageUse) -> None:
        """Make a deployment use a package; another version of the package that it uses is replaced."""
        with self._changing():
            if use.deployment not in self._living():
                raise failures.deleted(str(use.deployment))
            self._refuse_open(use.deployment)
            self.add_uses(use.deployment, [use])

    def add_uses(self, deployment: int, added: Iterable[PackageUse]) -> None:
        """Store the packages that a deployment uses, each in place of another version of it."""
        used = self._uses.setdefault(deployment, {})
        for use in added:
            if use.package not in self._rows or use.package in self._removed:
                raise failures.package_gone()
            name = self._rows[use.package].name
            for other in [number for number in used if self._rows[number].name == name]:
                del used[other]
            used[use.package] = altered(use, deployment=deployment)

    def leave(self, deployment: int, package: int) -> None:
        """Make a deployment stop using a package."""
        with self._changing():
            self._refuse_open(deployment)
            self._uses.get(deployment, {}).pop(package, None)

    def find_again(self, folders: Mapping[str, str]) -> None:
        """Replace the folders in which deployments find modules of their packages, {former folder: new folder}."""
        for used in self._uses.values():
            for number, use in used.items():
                used[number] = altered(use, folders=tuple(folders.get(folder, folder) for folder in use.folders))

    def found_in(self, row: DeploymentRow) -> DeploymentRow:
        """Return the deployment's row with the folders in which modules of its packages are found."""
        folders = tuple(folder for use in self.uses(row.number) for folder in use.folders)
        return altered(row, code=altered(row.code, packages=folders)) if folders else row

    def forget(self, kept: Collection[int]) -> None:
        """Remove the uses of deployments that are not in ``kept``, for a purge."""
        self._uses = {number: used for number, used in self._uses.items() if number in kept}

    def kept(self) -> Mapping[str, int]:
        """Return {digest: package number} of all packages whose files are still needed."""
        return {row.digest: row.number for row in (*self._rows.values(), *self.all())}

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
            gone = [number for number, at in self._removed.items() if oldest is None or oldest > at]
            digests = dict.fromkeys(self._rows[number].digest for number in gone)
            for number in gone:
                del self._removed[number], self._rows[number]
                self._files.pop(number, None)
                for used in self._uses.values():
                    used.pop(number, None)
            needed = {file.digest for files in self._files.values() for file in files}
            self._contents = {digest: body for digest, body in self._contents.items() if digest in needed}
            still = {row.digest for row in self._rows.values()}
            return [digest for digest in digests if digest not in still]
