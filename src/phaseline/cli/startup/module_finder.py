"""An importer that finds Phaseline's modules without searching, in the folder of the package and its byte code.

Python tries six file endings for each module, lists folders, reads the time of the source twice and composes the name
of its byte code three times. That takes 0.13 million instructions per module, and a command loads 270 modules (ADR
0020). Modules imported as modules, by ``from package import module``, are not loaded until they are used (ADR 0037). A
module without a source file here, or without valid byte code, is left to Python, which also writes byte code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib._bootstrap_external import MAGIC_NUMBER  # as ``importlib.util``, which imports more
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from marshal import loads
from types import CodeType, ModuleType
from typing import Any

import phaseline

OURS = f"{phaseline.__name__}."
COMPILE_LATER = frozenset({"yaml.constructor", "yaml.reader", "yaml.resolver"})
"""Library modules that compile patterns while they are imported."""
PLAIN: dict[str, tuple[str, ...]] = {
    "phaseline": (
        "app", "calls", "catalog", "cli", "client", "compat", "dsl", "embedded", "engine", "hooks", "lang", "model",
        "packages", "plan", "policies", "ports", "records", "run", "tasks", "use_cases", "vault", "views",
    ),
    "phaseline.calls": (
        "batches", "deployments", "protocol", "threads",
    ),
    "phaseline.catalog": (
        "code", "files", "phases",
    ),
    "phaseline.cli": (
        "commands", "render", "shell", "startup", "streams",
    ),
    "phaseline.cli.commands": (
        "blueprints", "deployments", "estate", "executions", "plans", "plugins",
    ),
    "phaseline.calls.deployments": ("estate",),
    "phaseline.client": ("estate",),
    "phaseline.compat.cloudify": ("types",),
    "phaseline.cli.render": (
        "authoring", "progress",
    ),
    "phaseline.compat": (
        "cyclecloud", "fuel", "heat",
    ),
    "phaseline.dsl": (
        "deployment", "documents", "functions", "grammar", "imports", "nodes", "text", "type_system",
    ),
    "phaseline.engine": (
        "lanes",
    ),
    "phaseline.model": (
        "blueprint", "deployment", "execution", "graph", "health", "packages", "phases", "problems", "resources",
        "rows", "schedules",
    ),
    "phaseline.packages": (
        "format", "languages",
    ),
    "phaseline.plan": (
        "explain", "graph", "preview", "recurrence", "requests", "rounds", "stages", "states", "topology", "transforms",
    ),
    "phaseline.records": (
        "formats", "functions",
    ),
    "phaseline.run": (
        "executors", "loop", "phases",
    ),
    "phaseline.store": (
        "codec",
        "database",
        "memory",
        "postgres",
        "relational",
        "sql",
        "sqlite",
    ),
    "phaseline.store.migrations": (
        "versions",
    ),
    "phaseline.store.memory": ("estate",),
    "phaseline.store.sql": ("estate", "purging", "read_model"),
    "phaseline.use_cases": (
        "commands", "loading", "lookup", "prepare", "queries", "tools",
    ),
    "phaseline.use_cases.commands": (
        "estate", "orders", "packages", "resources",
    ),
    "phaseline.use_cases.queries": (
        "composition", "estate", "events", "packages", "resources",
    ),
}  # fmt: skip
"""{package: packages in it whose ``__init__`` has only a docstring}; a test keeps this table up to date."""
MADE_ON_REQUEST = frozenset({"__cached__", "__file__", "__loader__", "__package__", "__spec__"})
"""Attributes of a plain package that are made when first read, because they cost three times as much as the package."""
ASKED_BY_IMPORTS = frozenset({
    "__class__", "__dict__", "__name__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__",
})  # fmt: skip
"""Attributes of a module that Python reads and sets while it imports the module."""
LONGEST = 1 << 16
"""Number of bytes of byte code that are read at once: more than any module has. A larger buffer costs a system call."""


def find_directly() -> None:
    """Install this importer for Phaseline's modules, if they are in an ordinary folder.

    If another program has put its finder first to see all imports, that finder stays first.
    """
    spec = phaseline.__spec__
    is_ordinary = type(spec.loader) is SourceFileLoader and sys.pycache_prefix is None
    if is_ordinary and spec.cached is not None and BuiltinImporter in sys.meta_path:
        ending = spec.cached.rpartition("__init__")[2]
        sys.meta_path.insert(sys.meta_path.index(BuiltinImporter), ModuleFinder(ending))
        if spec.origin is not None:
            make_plain_packages(phaseline, spec.origin.rpartition("/")[0], ending)


def make_plain_packages(parent: ModuleType, folder: str, ending: str) -> None:
    """Make the packages below ``parent`` whose ``__init__`` has only a docstring, without reading the file.

    This takes a twentieth of the time of an import, and a command would import fifty of them. Packages that are already
    imported stay.
    """
    modules, around, before = sys.modules, vars(parent), f"{parent.__name__}."
    for own in PLAIN.get(parent.__name__, ()):
        name, place = before + own, f"{folder}/{own}"
        module = modules.get(name)
        if module is None:
            modules[name] = around[own] = module = ModuleType.__new__(ModuleType)
            known = module.__dict__  # filled one by one: ``update`` costs as much as all the rest
            known["__name__"] = name
            known["__doc__"] = None
            known["__path__"] = [place]
            known["__getattr__"] = partial(_of_plain_package, name, place, ending)
        if name in PLAIN:
            make_plain_packages(module, place, ending)


def _of_plain_package(package: str, folder: str, ending: str, own: str) -> object:
    """Return an attribute of a plain package: one that all packages have, or a deferred module.

    This function is the package's ``__getattr__``. Raises: ``AttributeError``.
    """
    if own not in MADE_ON_REQUEST:
        return _waiting_module(package, folder, own)
    known = vars(sys.modules[package])
    source = f"{folder}/__init__.py"
    spec = ModuleSpec(package, SourceFileLoader(package, source), origin=source, is_package=True)
    spec.has_location, spec.cached = True, f"{folder}/__pycache__/__init__{ending}"
    spec.submodule_search_locations = known["__path__"]
    spec = known.setdefault("__spec__", spec)
    known.update(__file__=source, __cached__=spec.cached, __package__=package, __loader__=spec.loader)
    return known[own]


def _waiting_module(package: str, folder: str, own: str) -> ModuleType:
    """Return a deferred module of a package if a file exists for it; this is the package's ``__getattr__``.

    Raises: ``AttributeError`` if there is no file.
    """
    name = f"{package}.{own}"
    # A module already in sys.modules is being imported by another thread: Python waits for that.
    if name in sys.modules or not os.access(f"{folder}/{own}.py", os.F_OK):  # cheaper than os.stat
        raise AttributeError(f"module {package!r} has no attribute {own!r}")
    found: ModuleType = vars(sys.modules[package]).setdefault(own, WaitingModule(name))
    return found


class WaitingModule(ModuleType):
    """A module that was imported as a module and is not used yet. Reading its first attribute imports it.

    The import is an ordinary one into this object. It takes Python's lock of the module, goes through ``sys.meta_path``
    and raises the module's own error.
    """

    def __getattribute__(self, name: str) -> Any:
        """Import the module and return its attribute with this name."""
        if name == "__class__":  # isinstance reads it
            return _own(self, name)
        module = import_module(_own(self, "__name__"))
        if module is not self:  # another thread imported it while this object was made
            return getattr(module, name)
        if not getattr(_own(self, "__spec__"), "_initializing", False):  # otherwise the module reads its own attribute
            self.__class__ = ModuleType  # type: ignore[assignment]  # the same layout
        return _own(self, name)


class ImportingModule(WaitingModule):
    """A deferred module while it is imported: other threads wait for the end of the import."""

    def __getattribute__(self, name: str) -> Any:
        """Return the attribute, waiting for the import if another thread is importing the module."""
        return _own(self, name) if name in ASKED_BY_IMPORTS else super().__getattribute__(name)


_own = ModuleType.__getattribute__


class ModuleFinder:
    """Finds Phaseline's modules; it is an entry of ``sys.meta_path``."""

    def __init__(self, ending: str) -> None:
        """``ending``: how names of byte code files end; it contains the interpreter's version and the optimization level."""
        self._ending = ending

    def find_spec(self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a Phaseline module, or of a library module with deferred patterns; otherwise None."""
        if not path or not name.startswith(OURS):
            if name not in COMPILE_LATER:
                return None
            from phaseline.cli.startup.deferred_patterns import spec_of

            return spec_of(name, path)
        own = name.rpartition(".")[2]
        module = self._found(name, path[0], own)
        if module is not None:
            return module
        package = self._found(name, f"{path[0]}/{own}", "__init__")
        if package is not None:
            package.submodule_search_locations = [f"{path[0]}/{own}"]
        return package

    def _found(self, name: str, folder: str, own: str) -> ModuleSpec | None:
        source, cached = f"{folder}/{own}.py", f"{folder}/__pycache__/{own}{self._ending}"
        try:
            seen = os.stat(source)  # noqa: PTH116 - a Path costs more than the whole search
        except OSError:
            return None
        spec = ModuleSpec(name, _Loader(name, source, cached, seen), origin=source)
        spec.has_location = True
        spec.cached = cached
        return spec


class _Loader(SourceFileLoader):
    """A loader that uses byte code made from the present source.

    Older byte code, or hash-checked one, is left to Python.
    """

    def __init__(self, name: str, source: str, cached: str, seen: os.stat_result) -> None:
        """Keep the module's name, the paths of its source and byte code, and the source's status ``seen``."""
        super().__init__(name, source)
        self._cached = cached
        self._made_of = b"%b\0\0\0\0%b%b" % (MAGIC_NUMBER, _four_bytes(int(seen.st_mtime)), _four_bytes(seen.st_size))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make a module that has the attributes with its paths, because missing attributes would be slower to read."""
        package, _, own = spec.name.rpartition(".")
        module = vars(sys.modules[package]).get(own) if package in sys.modules else None
        if isinstance(module, WaitingModule):
            module.__class__ = ImportingModule
        else:
            module = ModuleType(spec.name)
        vars(module).update(__file__=self.path, __cached__=self._cached)
        if spec.submodule_search_locations:
            vars(module)["__getattr__"] = partial(_waiting_module, spec.name, spec.submodule_search_locations[0])
        if spec.name in PLAIN:
            folder, _, ending = self._cached.rpartition("/__pycache__/__init__")
            make_plain_packages(module, folder, ending)
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code that runs when the module is imported."""
        written = memoryview(_start_of(self._cached))
        if written[:16] != self._made_of or len(written) == LONGEST:
            return super().get_code(fullname)
        code: CodeType = loads(written[16:])  # noqa: S302 - the same file that Python itself would load
        return code if code.co_filename == self.path else super().get_code(fullname)


def _start_of(path: str) -> bytes:
    """Return the content of a file, in a fifth of the time of a file object; empty if there is no file."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, LONGEST)
    finally:
        os.close(file)


def _four_bytes(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")
