"""Imports plugin functions; two deployments may each have a module of the same name.

Modules from plugin folders live in a *space*, one for each search path. They are imported under their plain names
through a finder of this module, and removed from ``sys.modules`` when the import is done. An import inside a function
that runs later searches its module's space before ``sys.modules``, where another space may just have put its modules.
Installed modules are imported as usual.

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
"""Held while ``sys.modules`` shows the modules of one space."""


class Space:
    """The modules of one search path by name."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        """No module is imported yet."""
        self.folders = folders
        self.modules: dict[str, ModuleType] = {}
        self._is_own: dict[str, bool] = {}

    def has(self, top: str) -> bool:
        """Whether a name without dots is found in its folders."""
        known = self._is_own.get(top)
        if known is None:
            known = self._is_own[top] = find_spec(top, self.folders) is not None
        return known

    def known(self, name: str, wanted: Sequence[str]) -> ModuleType | None:
        """The result of ``import name`` or ``from name import wanted`` if all of it was imported before; else None."""
        module = self.modules.get(name)
        if module is None:
            return None
        if not wanted:
            return self.modules.get(name.partition(".")[0])
        return module if all(each in vars(module) for each in wanted) else None

    def holds(self, name: str | None, file: str | None) -> bool:
        """True for a module that one of its folders contains under this name, not just somewhere below."""
        if not name or file is None:
            return False
        top = name.partition(".")[0]
        return any(file.startswith((f"{folder}/{top}/", f"{folder}/{top}.")) for folder in self.folders)


class SpaceLoader(SourceFileLoader):
    """Loads a module's source as usual; a later import inside the module is recognized by this loader."""

    def __init__(self, usual: SourceFileLoader, finder: SpaceFinder, space: Space) -> None:
        """``usual``: Python's own loader."""
        super().__init__(usual.name, usual.path)
        self.finder = finder
        self.space = space


class Again:
    """Gives an import a module that was executed before."""

    def __init__(self, module: ModuleType) -> None:
        """``module`` is returned unchanged."""
        self._module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 - the import system's signature
        """The module itself."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it was executed when it was first imported."""


class SpaceFinder:
    """Finds top-level modules of a space for imports that come from it."""

    def __init__(self) -> None:
        """No space is known yet."""
        self.spaces: dict[tuple[str, ...], Space] = {}
        self._active = threading.local()

    def space(self, folders: tuple[str, ...]) -> Space:
        """The space of a search path, made on first use."""
        return self.spaces.setdefault(folders, Space(folders))

    def import_in(self, space: Space, module: str) -> ModuleType:
        """Import a module in its space, leaving ``sys.modules`` without the space's names."""
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
        """The result of an ``import`` in a module of the space; arguments as of Python's ``__import__``."""
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
        """Let ``sys.modules`` hold the modules of one space and of no other; one thread at a time."""
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
        """The spec in the importer's space, or None: then the usual finders are asked."""
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
    """The innermost frame that is not part of the import system."""
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
    """Replaces ``__import__`` of this process: imports of a space go to the space, all others to the earlier function.

    It is installed by the first loader and stays, because it costs next to nothing: a later replacement calls it.
    """

    def __init__(self) -> None:
        self._leads = False
        self.usual: Callable[..., ModuleType] = builtins.__import__

    def lead(self) -> None:
        """Replace it, the first time."""
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
    """Python's ``__import__``, except for modules of a space; only ``globals`` identifies the importing function."""
    loader = globals.get("__loader__") if globals is not None else None
    if type(loader) is SpaceLoader and globals is not None:
        return loader.finder.import_from(loader.space, name, globals, fromlist or (), level)
    return _imports.usual(name, globals, locals, fromlist or (), level)


def _file(module: ModuleType) -> str | None:
    """A file that shows the origin of a module; for a package without ``__init__`` a path inside its folder."""
    file = getattr(module, "__file__", None)
    if file is None:
        for folder in getattr(module, "__path__", ()):
            return f"{folder}/"
    return file


def _own(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Without those in which Python looks by itself: what it finds there is shared by everyone."""
    return tuple(folder for folder in folders if folder not in sys.path)


class Loader:
    """Imports functions by their dotted names, each once; safe from any thread."""

    def __init__(self, before_code: Callable[[], None] | None = None) -> None:
        """Put our finder first; nothing is imported yet. ``before_code`` is called before a module is, each time."""
        self._before_code = before_code
        self._finder = SpaceFinder()
        self._known: dict[tuple[CodeLocation, str], Callable[..., object]] = {}
        importlib.invalidate_caches()
        _imports.lead()
        sys.meta_path.insert(0, self._finder)

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """The function ``module.function``.

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
        """The module, from the folders or else from what is installed. Raises ``ImportError`` or what the import raised."""
        with _changing:
            offer_shim()
            return self._from(name, folders)

    def forget(self, folders: tuple[str, ...]) -> None:
        """Import everything from these folders again at its next use; functions loaded before stay valid.

        Python's byte code beside the modules is deleted, too: its time has only whole seconds to detect newer text.
        """
        with _changing:
            space = self._finder.spaces.pop(_own(folders), None)
            for module in () if space is None else space.modules.values():
                _without_byte_code(module)
            importlib.invalidate_caches()

    def forget_module(self, name: str) -> None:
        """The same for one installed module, without those it imports; objects loaded before stay valid."""
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
        """Take our finder out again."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
