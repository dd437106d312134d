"""The offline catalogue of plugins' definition files, with a folder for each version of each plugin (decision 25).

The files are in the store; the folder is a copy of them, which may be deleted at any time (RF9).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.problems.problem import Place, Problem, ProblemsError

MARK = ".stored"
"""Name of the file in the folder that identifies the content of the store to which the folder is equal."""
_FOR_MINOR = re.compile(r"plugin_1_([0-9]+)\.ya?ml")
_ORDINARY = ("plugin.yaml", "plugin.yml")
_PUBLIC = (
    re.compile(
        r"https?://(?:www\.)?(?:getcloudify\.org|cloudify\.co)/spec/(?P<name>[^/]+)/(?P<version>[^/]+)/(?P<file>[^/]+)"
    ),
    re.compile(
        r"https?://raw\.githubusercontent\.com/[^/]+/(?P<name>cloudify-[^/]+)/(?:refs/(?:tags|heads)/)?(?P<version>[^/]+)/(?P<file>[^/]+)"
    ),
    re.compile(
        r"https?://github\.com/[^/]+/(?P<name>cloudify-[^/]+)/(?:raw|blob|releases/download)/(?:refs/(?:tags|heads)/)?(?P<version>[^/]+)/(?P<file>[^/]+)"
    ),
    re.compile(r"https?://[^/]+/(?:cloudify/)?wagons/(?P<name>[^/]+)/(?P<version>[^/]+)/(?P<file>[^/]+)"),
)
"""Patterns of the web addresses at which public plugins publish their definition files."""


@frozen
class Definition:
    """The definition files of one version of one plugin: {file name: text}."""

    name: str
    version: str
    files: Mapping[str, str]


@frozen
class TypeFile:
    """One version of one plugin in the catalogue. ``files`` are the names of its definition files in ``folder``."""

    name: str
    version: str
    folder: str
    files: Sequence[str]

    def path(self, minor: int, wanted: str = "") -> str:
        """Return the path of the definition file that fits a main blueprint of version ``cloudify_dsl_1_<minor>``.

        A file named ``wanted`` is returned if it exists and its name is not one of the usual ones, such as
        ``plugin.yaml``.
        """
        if wanted in self.files and not _FOR_MINOR.fullmatch(wanted) and wanted not in _ORDINARY:
            return str(Path(self.folder, wanted))
        fitting = [
            (int(match[1]), file)
            for file in self.files
            if (match := _FOR_MINOR.fullmatch(file)) and int(match[1]) <= minor
        ]
        ordinary = [file for file in _ORDINARY if file in self.files]
        file = max(fitting)[1] if fitting else (ordinary or sorted(self.files))[0]
        return str(Path(self.folder, file))


class PublicAddress(NamedTuple):
    """The parts of the public address of a definition file."""

    name: str
    version: str
    file: str


def public_address(url: str) -> PublicAddress | None:
    """Return the plugin, version and file that the public address of a definition file names; None for any other
    address.

    >>> public_address("http://www.getcloudify.org/spec/fabric-plugin/1.4/plugin.yaml")
    PublicAddress(name='fabric-plugin', version='1.4', file='plugin.yaml')
    """
    for form in _PUBLIC:
        found = form.fullmatch(url)
        if found is not None and found["file"].endswith((".yaml", ".yml")) and found["name"] != "cloudify":
            return PublicAddress(found["name"], found["version"], found["file"])
    return None


class TypeFiles:
    """The catalogue of definition files in one folder. The folder need not exist; the catalogue is then empty."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def all(self) -> list[TypeFile]:
        """Return all plugin versions of the catalogue, sorted by name, and for each name the newest version first."""
        found = [
            TypeFile(place.parent.name, place.name, str(place), tuple(sorted(file.name for file in place.iterdir())))
            for place in self._folder.glob("*/*")
            if place.is_dir() and not place.parent.name.startswith(".")
        ]
        found.sort(key=lambda each: _order(each.version), reverse=True)
        return sorted(found, key=lambda each: each.name.lower())

    def named(self, name: str) -> list[TypeFile]:
        """Return the versions of one plugin, the newest first.

        The prefix ``cloudify-``, capital letters, and the difference of ``-``, ``_`` and ``.`` are ignored in names.
        """
        return [each for each in self.all() if plain_name(each.name) == plain_name(name)]

    def fitting(self, name: str, version: str) -> TypeFile | None:
        """Return the newest version of a plugin that fits ``version``, or None if none fits.

        ``version`` is a PEP 440 specifier, a plain version, or empty for any version.
        """
        return next((each for each in self.named(name) if fits(each.version, version)), None)

    def published(self, url: str) -> TypeFile | None:
        """Return the plugin version that a public address names, or None if it is not in the catalogue.

        An address with a branch such as ``master`` names the newest version.
        """
        address = public_address(url)
        if address is None:
            return None
        version = address.version.removeprefix("v") if re.match(r"v?[0-9]", address.version) else ""
        return self.fitting(address.name, version)

    def add(self, definition: Definition) -> TypeFile:
        """Add a plugin version to the catalogue; an existing version is replaced as a whole."""
        place = self._folder / definition.name / definition.version
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=self._folder) as making:
                new, old = Path(making, "new"), Path(making, "old")
                new.mkdir()
                for file, text in definition.files.items():
                    new.joinpath(file).write_text(text, "utf-8")
                if place.exists():
                    place.rename(old)
                new.rename(place)
        except OSError as error:
            raise _not_kept(self._folder, place, error) from error
        return TypeFile(definition.name, definition.version, str(place), tuple(sorted(definition.files)))

    @property
    def mark(self) -> str:
        """The text of ``set_mark``, or "" if the folder was never made equal to a store."""
        try:
            return self._marked.read_text("utf-8")
        except OSError:
            return ""

    def set_mark(self, mark: str) -> None:
        """Record the content of the store to which the folder is equal. Raises: PL-B120 if the folder cannot be written."""
        beside = self._folder / f"{MARK}.{os.getpid()}-{os.urandom(4).hex()}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(mark, "utf-8")
            beside.replace(self._marked)
        except OSError as error:
            raise _not_kept(self._folder, self._folder, error) from error

    @property
    def _marked(self) -> Path:
        return self._folder / MARK

    def remove(self, found: TypeFile) -> None:
        """Remove a plugin version; the plugin's folder is removed, too, if it is then empty."""
        place = Path(found.folder)
        shutil.rmtree(place)
        if not any(place.parent.iterdir()):
            place.parent.rmdir()


def _not_kept(folder: Path, place: Path, error: OSError) -> ProblemsError:
    message = f"the definition cannot be kept in '{folder}': {error.strerror}"
    return ProblemsError(
        [Problem("PL-B120", message, "give yourself the permission to write there", Place(str(place)))]
    )


def plain_name(name: str) -> str:
    """Return a package's name in the spelling in which names are compared: lower case, ``-``, without ``cloudify-``.

    >>> plain_name("Cloudify_AWS.plugin")
    'aws-plugin'
    """
    return re.sub(r"[-_.]+", "-", name).lower().removeprefix("cloudify-")


def _order(version: str) -> tuple[bool, object]:
    """Return a sort key of a version: the order of PEP 440, and texts that are no such version before all others."""
    from packaging.version import InvalidVersion, Version

    try:
        return (True, Version(version))
    except InvalidVersion:
        return (False, version)


def fits(version: str, wanted: str) -> bool:
    """Return True if a version matches ``wanted``: a PEP 440 specifier, a plain version, or an empty text for any
    version.

    Raises: PL-B092 if ``wanted`` is no valid specifier.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    wanted = wanted.strip()  # public blueprints have '?version= >=2.4'
    if not wanted or wanted[0] not in "=<>!~":
        return wanted in {"", version}  # alone it means this very version
    try:
        return SpecifierSet(wanted, prereleases=True).contains(version)
    except InvalidVersion:
        return False
    except InvalidSpecifier as error:
        mend = "write a specifier of PEP 440, such as '>=3.0,<4'"
        raise ProblemsError([Problem("PL-B092", f"'{wanted}' specifies no version", mend)]) from error
