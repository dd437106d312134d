"""Imports plugin functions so that two deployments may each have a module of the same name.

Modules from plugin folders belong to a *space*; there is one space for each search path. A finder in this module
imports them under their plain names, and removes them from ``sys.modules`` afterwards. If a function of such a module
imports something later, the module's own space is searched before ``sys.modules``, which may then hold modules of
another space. Installed modules are imported as usual.

The process has one ``sys.modules``: every loader that changes it holds one lock of the process.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
import threading
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from phaseline.catalog.code.search_path import find_spec, offer_shim, search_path, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from phaseline.model.deployment.code_location import CodeLocation


_changing = threading.RLock()
"""Lock that is held while ``sys.modules`` contains the modules of one space."""


class Space:
    """The modules imported along one search path, by name."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        """Create the space of these folders, with no module imported yet."""
        self.folders = folders
        self.modules: dict[str, ModuleType] = {}
        self._is_own: dict[str, bool] = {}

    def has(self, top: str) -> bool:
        """Return True if the folders of this space contain a top-level module or package of this name."""
        known = self._is_own.get(top)
        if known is None:
            known = self._is_own[top] = find_spec(top, self.folders) is not None
        return known

    def known(self, name: str, wanted: Sequence[str]) -> ModuleType | None:
        """Return the result of ``import name`` or ``from name import wanted`` if this space already has all of it, else
        None.
        """
        module = self.modules.get(name)
        if module is None:
            return None
        if not wanted:
            return self.modules.get(name.partition(".")[0])
        return module if all(each in vars(module) for each in wanted) else None

    def holds(self, name: str | None, file: str | None) -> bool:
        """Return True if ``file``, the file of the module ``name``, is in a folder of this space, at the path that the
        name requires.

        ``a/b.py`` and ``a.py`` directly in a folder fit the module ``a.b`` or ``a``. A file deeper below the folder
        belongs to another module of the same name.
        """
        if not name or file is None:
            return False
        top = name.partition(".")[0]
        return any(file.startswith((f"{folder}/{top}/", f"{folder}/{top}.")) for folder in self.folders)


class SpaceLoader(SourceFileLoader):
    """Loads a module of a space as Python does. Imports that the module makes later are known by this loader to belong
    to the space.
    """

    def __init__(self, usual: SourceFileLoader, finder: SpaceFinder, space: Space) -> None:
        """Take name and path from ``usual``, the loader that Python itself would use."""
        super().__init__(usual.name, usual.path)
        self.finder = finder
        self.space = space


class Again:
    """Import loader that returns a module which is already imported."""

    def __init__(self, module: ModuleType) -> None:
        """Keep the imported module."""
        self._module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 - the import system's signature
        """Return the imported module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module was executed when it was first imported."""


class SpaceFinder:
    """Finder in ``sys.meta_path`` that resolves imports made by modules of a space within that space."""

    def __init__(self) -> None:
        """Create the finder without any space."""
        self.spaces: dict[tuple[str, ...], Space] = {}
        self._active = threading.local()

    def space(self, folders: tuple[str, ...]) -> Space:
        """Return the space of a search path; it is made on first use."""
        return self.spaces.setdefault(folders, Space(folders))

    def import_in(self, space: Space, module: str) -> ModuleType:
        """Import a module into its space, and leave ``sys.modules`` without modules of the space."""
        known = space.modules.get(module)
        if known is not None:
            return known
        with self._showing(space):
            return importlib.import_module(module)

    def import_from(
        self,
        space: Space,
        name: str,
        within: Mapping[str, object],
        wanted: Sequence[str],
        level: int,
    ) -> ModuleType:
        """Carry out an ``import`` statement of a module of the space.

        The arguments are those of Python's ``__import__``: ``within`` is its ``globals``, ``wanted`` its ``fromlist``.
        """
        package = str(within.get("__package__") or "")
        absolute = importlib.util.resolve_name("." * level + name, package) if level and package else name
        if not space.has(absolute.partition(".")[0]):
            return _imports.usual(name, within, None, wanted, level)
        known = space.known(absolute, wanted)
        if known is not None:
            return known
        with self._showing(space):
            return _imports.usual(name, within, None, wanted, level)

    @contextmanager
    def _showing(self, space: Space) -> Iterator[None]:
        """Let ``sys.modules`` contain the modules of this space, and no other space's, while the ``with`` block runs.

        Only one thread at a time can be in such a block.
        """
        with _changing:
            outer: Space | None = getattr(self._active, "space", None)
            if outer is space:  # an import inside of an import: what is half done must stay where it is
                yield
                return
            before = dict(sys.modules)
            for name, found in before.items():
                # A name that another space left behind (``import_module`` inside a function) must not answer for ours.
                if any(other.holds(name, _file(found)) for other in self.spaces.values()):
                    del sys.modules[name]
            sys.modules.update(space.modules)
            self._active.space = space
            try:
                yield
            finally:
                self._active.space = outer
                self._put_back(space, before)
                if outer is not None:
                    self._show_again(outer, before)

    def _put_back(self, space: Space, before: Mapping[str, ModuleType]) -> None:
        for name, found in list(sys.modules.items()):
            if before.get(name) is not found and space.holds(name, _file(found)):
                space.modules[name] = found
                del sys.modules[name]
        for name in space.modules:
            sys.modules.pop(name, None)

    @staticmethod
    def _show_again(outer: Space, before: Mapping[str, ModuleType]) -> None:
        sys.modules.update({name: found for name, found in before.items() if outer.holds(name, _file(found))})

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG002 - the import system's signature
    ) -> ModuleSpec | None:
        """Return the spec of a module in the importing module's space, or None, so that Python asks
        its other finders.
        """
        space = self._importing_space()
        if space is None:
            return None
        known = space.modules.get(fullname)
        if known is not None:
            return ModuleSpec(fullname, Again(known))  # type: ignore[arg-type]  # its abstract class costs 8 ms to import
        if path is None:
            spec = find_spec(fullname, space.folders) if "." not in fullname else None
        else:
            spec = PathFinder.find_spec(fullname, path) if space.has(fullname.partition(".")[0]) else None
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = SpaceLoader(spec.loader, self, space)
        return spec

    def _importing_space(self) -> Space | None:
        active: Space | None = getattr(self._active, "space", None)
        frame = _importing_frame(sys._getframe(1))  # noqa: SLF001 - only the frame names the importing module
        if frame is None:
            return active
        loader = frame.f_globals.get("__loader__")
        if type(loader) is SpaceLoader:
            return loader.space if loader.finder is self else None
        name, file = frame.f_globals.get("__name__"), frame.f_code.co_filename
        if active is not None and (file == __file__ or active.holds(name, file)):
            return active
        return next((space for space in self.spaces.values() if space.holds(name, file)), None)


def _importing_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame that is not part of the import system: the code that imports. None
    if there is none.
    """
    while frame is not None:
        file = frame.f_code.co_filename
        inside = frame.f_code.co_name in _OUR_STEPS and file == __file__
        if not inside and not file.startswith("<frozen importlib") and file != importlib.__file__:
            return frame
        frame = frame.f_back
    return None


def _without_byte_code(module: ModuleType) -> None:
    cached = getattr(module, "__cached__", None)
    if cached:
        with suppress(OSError):
            Path(cached).unlink()


_OUR_STEPS = frozenset({"find_spec", "_importing_space", "import_from", "_import"})


class Imports:
    """Replaces ``__import__`` of this process: a module of a space imports in its space, all others import as before.

    The first loader installs this replacement, which then stays because it costs almost nothing. If other code replaces
    ``__import__`` later, that replacement calls this one.
    """

    def __init__(self) -> None:
        self._leads = False
        self.usual: Callable[..., ModuleType] = builtins.__import__

    def lead(self) -> None:
        """Replace ``__import__`` at the first call; later calls do nothing."""
        with _changing:
            if not self._leads:
                self._leads, self.usual, builtins.__import__ = True, builtins.__import__, _import


_imports = Imports()


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,  # noqa: A002 - the names are Python's; callers may pass them by name
    locals: Mapping[str, object] | None = None,  # noqa: A002
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Do what Python's ``__import__`` does, but let a module of a space import in its space.

    The importing module is known from ``globals`` alone.
    """
    loader = globals.get("__loader__") if globals is not None else None
    if type(loader) is SpaceLoader and globals is not None:
        return loader.finder.import_from(loader.space, name, globals, fromlist or (), level)
    return _imports.usual(name, globals, locals, fromlist or (), level)


def _file(module: ModuleType) -> str | None:
    """Return a file that shows where a module comes from, or a path in the folder of a package without ``__init__``."""
    file = getattr(module, "__file__", None)
    if file is None:
        for folder in getattr(module, "__path__", ()):
            return f"{folder}/"
    return file


def _own(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that are not in ``sys.path``: modules found through ``sys.path`` are shared by all
    deployments.
    """
    return tuple(folder for folder in folders if folder not in sys.path)


class Loader:
    """Imports plugin functions by their dotted names, each function once. Safe to use from any thread."""

    def __init__(self, before_code: Callable[[], None] | None = None) -> None:
        """Put the finder of spaces first in ``sys.meta_path``; nothing is imported yet.

        ``before_code`` is called each time before a module is imported.
        """
        self._before_code = before_code
        self._finder = SpaceFinder()
        self._known: dict[tuple[CodeLocation, str], Callable[..., object]] = {}
        importlib.invalidate_caches()
        _imports.lead()
        sys.meta_path.insert(0, self._finder)

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """Return the function ``module.function``, and import its module if necessary.

        Raises ``ImportError``, ``AttributeError``, ``TypeError`` (not callable) or what the import raised.
        """
        key = (code, implementation)
        known = self._known.get(key)
        if known is not None:
            return known
        module, name = split(implementation)
        if not module:
            raise ImportError(f"'{implementation}' is not of the form module.function")
        with _changing:
            offer_shim()
            function = getattr(self._module(module, code), name)
        if not callable(function):
            raise TypeError(f"'{implementation}' is not callable")
        self._known[key] = function
        return function  # type: ignore[no-any-return]  # checked by callable() above

    def module(self, name: str, folders: tuple[str, ...]) -> ModuleType:
        """Import a module from the folders, or else from what is installed.

        Raises ``ImportError`` or what the import raised.
        """
        with _changing:
            offer_shim()
            return self._from(name, folders)

    def forget(self, folders: tuple[str, ...]) -> None:
        """Forget all modules from these folders, so that they are imported again at their next use.

        Functions loaded before stay usable. The modules' cached byte code is deleted, too: Python compares file times
        in whole seconds, so it would not notice a source that has changed within one second.
        """
        with _changing:
            space = self._finder.spaces.pop(_own(folders), None)
            for module in () if space is None else space.modules.values():
                _without_byte_code(module)
            importlib.invalidate_caches()

    def forget_module(self, name: str) -> None:
        """Forget one installed module, but not the modules that it imports, so that it is imported again at its next
        use.

        Objects loaded before stay usable.
        """
        with _changing:
            known = sys.modules.pop(name, None)
            if known is not None:
                _without_byte_code(known)
            importlib.invalidate_caches()

    def _module(self, module: str, code: CodeLocation) -> ModuleType:
        return self._from(module, search_path(code))

    def _from(self, module: str, places: tuple[str, ...]) -> ModuleType:
        if self._before_code is not None:
            self._before_code()
        folders = _own(places)
        if folders and find_spec(module.partition(".")[0], folders) is not None:
            return self._finder.import_in(self._finder.space(folders), module)
        return importlib.import_module(module)

    def close(self) -> None:
        """Remove the finder of spaces from ``sys.meta_path``."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
