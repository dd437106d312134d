"""The catalog of plugin code: it finds the declarations of functions, and imports the functions themselves.

A function is named ``module.function``. If no such module exists, an entry point of the group
``phaseline.operations`` may have the module's name; its value is then the real module. The entry point belongs to an
installed distribution, or to a plugin package that the deployment uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.catalog.code.declarations import DeclarationReader
from phaseline.catalog.code.function_loader import Loader
from phaseline.catalog.code.search_path import split
from phaseline.lang.fast_dataclasses import shared_property
from phaseline.model.blueprint.operation_declaration import as_phase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from phaseline.catalog.code.hook_loader import HookCode
    from phaseline.catalog.phases.function_loader import PhaseImporter
    from phaseline.catalog.phases.plugin_set import PhasePlugins
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.execution.pre_post import PinnedHookClass
    from phaseline.model.phases.definitions import PhaseCode

GROUP = "phaseline.operations"
"""Entry-point group in which distributions announce modules with operations."""


class PluginCatalog:
    """Implements ``ports.catalog.Catalog`` for plugin folders, installed distributions and entry points."""

    def __init__(
        self, offer_heat: Callable[[], None] | None = None, before_code: Callable[[], None] | None = None
    ) -> None:
        """Read and import nothing yet.

        ``offer_heat`` is called before a hook class of Heat's entry-point group is imported.

        ``before_code`` is called each time before a plugin's module is imported.
        """
        self._before_code = before_code
        self._offer_heat = offer_heat
        self._declarations = DeclarationReader()

    @shared_property
    def _loader(self) -> Loader:
        return Loader(self._before_code)

    @shared_property
    def _phase_importer(self) -> PhaseImporter:
        from phaseline.catalog.phases.function_loader import PhaseImporter

        return PhaseImporter(self._loader)

    def phases(self, folders: Callable[[], Iterable[str]]) -> PhasePlugins:
        """Return the phase plugins of folders and of installed distributions; call ``load`` on them to read and import
        them.

        ``folders`` is called at each ``load``, because settings may have changed.
        """
        from phaseline.catalog.phases.plugin_set import PhasePlugins, read_all

        return PhasePlugins(read=lambda: read_all(folders()), importer=self._phase_importer)

    def load_phase(self, code: PhaseCode) -> Callable[..., object]:
        """Return the active function of a phase; raises what ``PhaseImporter.load`` raises."""
        return as_phase(self._phase_importer.load(code), code.form)

    @shared_property
    def _hook_code(self) -> HookCode:
        from phaseline.catalog.code.hook_loader import HookCode

        return HookCode(self._loader, self._offer_heat)

    def load_hook(self, hook: PinnedHookClass) -> Callable[[], object]:
        """Return a function that returns an object of the hook class; raises what ``HookCode.maker`` raises."""
        return self._hook_code.maker(hook)

    def forget_hooks(self) -> None:
        """Import hook classes again at their next use, for executions that begin from now on."""
        self._hook_code.forget()

    def declare(self, implementation: str, code: CodeLocation) -> Declaration | None:
        """Return the declaration of a function, or None if its source is not found."""
        found = self._declarations.of(implementation, code)
        if found is None:
            module, function = split(implementation)
            real = self._announced.get(module) or _packaged(module, code)
            found = self._declarations.of(f"{real}.{function}", code) if real is not None else None
        return found

    @shared_property
    def _announced(self) -> Mapping[str, str]:
        """{entry point's name: module}, read from the distributions' metadata, so that planning imports no plugin."""
        from importlib.metadata import entry_points

        return {point.name: point.value.partition(":")[0] for point in entry_points(group=GROUP)}

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """Return the function, and import it if necessary.

        Raises ``ImportError``, ``AttributeError``, ``TypeError`` or what the import raised.
        """
        try:
            return self._loader.load(implementation, code)
        except ModuleNotFoundError as error:
            module, function = split(implementation)
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module is there, something that it imports is not
            packaged = _packaged(module, code)
            if packaged is not None:
                return self._loader.load(f"{packaged}.{function}", code)
            return self._load_announced(module, function, error)

    @staticmethod
    def _load_announced(name: str, function: str, missing: ModuleNotFoundError) -> Callable[..., object]:
        """Return the function of the module that an entry point names; ``missing`` is raised if there is no such entry
        point.

        stevedore is imported here, because few deployments need it.
        """
        from stevedore.driver import DriverManager
        from stevedore.exception import NoMatches

        try:
            module = DriverManager[object](GROUP, name, invoke_on_load=False).driver
        except NoMatches:
            raise missing from None
        found: Callable[..., object] = getattr(module, function)
        return found


def _packaged(module: str, code: CodeLocation) -> str | None:
    """Return the module to which a plugin package of the deployment maps this name, or None; most deployments have no
    package.
    """
    if not code.packages:
        return None
    from phaseline.catalog.code.packaged_names import packaged_module

    return packaged_module(module, GROUP, code)
