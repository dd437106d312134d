"""Plugin files for tests: a pair with sensible text unless a test says otherwise."""

from pathlib import Path

from phaseline.catalog.phases.phase_files import PhaseFileOrigin, read_folder
from phaseline.catalog.phases.phase_packages import packages_at
from phaseline.catalog.phases.plugin_set import LoadedPlugins, PhasePlugins
from phaseline.model.phases.definitions import PhaseDefinition, PhasePlugin

CREATE = {
    "HandlesStates": "Allocation",
    "ResourceType": "Cloud.Node",
    "PhaseName": "Acme.Create",
}
CODE = "def handle(handler):\n    pass\n"


def cfg(given: dict[str, str | None] | None = None) -> str:
    """The text of a definition: ``CREATE`` with these attributes; None leaves one out."""
    wanted = {**CREATE, **(given or {})}
    lines = []
    for name, value in wanted.items():
        if value is not None:
            lines.append(f"{name} {value}" if value.startswith((":", "=")) else f"{name} = {value}")
    return "\n".join(lines) + "\n"


def write_pair(root: Path, name: str, given: dict[str, str | None] | None = None, code: str | None = CODE) -> Path:
    """``name`` with slashes below ``root``; the path of its ``.cfg``."""
    file = root / f"{name}.cfg"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(cfg(given))
    if code is not None:
        file.with_suffix(".py").write_text(code)
    return file


def read_plugin(root: Path, given: dict[str, str | None] | None = None, code: str | None = CODE) -> PhasePlugin:
    """The plugin of one pair."""
    write_pair(root, "create", given, code)
    [found] = read_folder(root.iterdir(), PhaseFileOrigin(folders=(str(root),)))
    [plugin] = found.plugins
    return plugin


def read_phase(root: Path, given: dict[str, str | None] | None = None) -> PhaseDefinition:
    """Its phase; nothing may be wrong with it."""
    plugin = read_plugin(root, given)
    assert not plugin.problems
    assert plugin.phase is not None
    return plugin.phase


def load(root: Path) -> LoadedPlugins:
    """Everything below the folder, loaded for the first time, without what is installed."""
    return PhasePlugins(read=lambda: packages_at(root)).load()


def codes(loaded: LoadedPlugins) -> list[str]:
    """Codes of all problems, sorted; warnings in lower case."""
    return sorted(problem.code if problem.severity == "error" else problem.code.lower() for problem in loaded.problems)
