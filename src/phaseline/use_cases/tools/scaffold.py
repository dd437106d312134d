"""Create a starter project: a first blueprint that can be installed at once, or a plugin package with a test."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.loading.blueprint_loading import deployment_name

Kind = Literal["blueprint", "plugin"]

PARTS: Mapping[Kind, Mapping[str, str]] = {
    "blueprint": {
        "blueprint.yaml": "blueprint.yaml",
        "plugins/greeting.py": "greeting.py.txt",
        "scripts/open_door.sh": "open_door.sh",
        "scripts/close_door.sh": "close_door.sh",
    },
    "plugin": {
        "pyproject.toml": "plugin/pyproject.toml.txt",
        "README.md": "plugin/README.md.txt",
        "blueprint.yaml": "plugin/blueprint.yaml",
        "src/MODULE/__init__.py": "plugin/module.py.txt",
        "tests/test_MODULE.py": "plugin/test_module.py.txt",
    },
}
"""{path in the new folder: file in the folder ``starter``}. MODULE and PACKAGE are replaced by the plugin's names."""


@frozen
class NewProject:
    """The files that were written, and the commands to run next."""

    folder: str
    files: tuple[str, ...]
    next: tuple[str, ...]


def start(folder: str, kind: Kind = "blueprint") -> NewProject:
    """Write a runnable blueprint, or a plugin with a test that passes, into a new or empty folder.

    Raises: PL-C022 if the folder is not empty or cannot be written; PL-C023 if its name cannot be the name of a module.
    """
    target = Path(folder)
    names = _names(target) if kind == "plugin" else {}
    mend = f"name another folder: phaseline init {kind} {target.name or 'hello'}-2"
    written = []
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise problem_error("PL-C022", f"the folder '{folder}' is not empty", mend)
        for name, source in PARTS[kind].items():
            path = target / _filled(name, names)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = files("phaseline.use_cases.tools").joinpath("starter", *source.split("/")).read_text("utf-8")
            path.write_text(_filled(text, names), "utf-8")
            if path.suffix == ".sh":
                path.chmod(0o755)
            written.append(path.relative_to(target).as_posix())
    except OSError as error:
        raise problem_error("PL-C022", f"the folder '{folder}' cannot be written: {error.strerror}", mend) from error
    return NewProject(folder, tuple(written), _plugin_words(target, names) if names else _blueprint_words(target))


def _blueprint_words(target: Path) -> tuple[str, ...]:
    file = str(target / "blueprint.yaml")
    name = "hello" if re.search("[A-Za-z]", target.absolute().name) is None else deployment_name(file, None)
    blueprint = shlex.quote(file)
    return (
        f"phaseline plan install {blueprint}",
        f"phaseline install {blueprint} -d {name} -i guests=5",
        f"phaseline deployments outputs {name}",
        f"phaseline uninstall -d {name}",
    )


def _plugin_words(target: Path, names: Mapping[str, str]) -> tuple[str, ...]:
    inside = [] if target.absolute() == Path.cwd() else [f"cd {shlex.quote(str(target))}"]
    package = names["PACKAGE"]
    return (
        *inside,
        "python -m pip install pytest",
        "python -m pytest",
        f"phaseline plugins try {names['MODULE']}:create --plugins . --properties '{{folder: /tmp/{package}}}' --count 3",
        f"phaseline install blueprint.yaml -d {package} --plugins .",
        f"phaseline uninstall -d {package}",
    )


def _names(target: Path) -> Mapping[str, str]:
    """Return {placeholder: name} for the files of the new folder. Raises: PL-C023."""
    folder = target.absolute().name
    module = re.sub(r"^[^a-z]+|_+$", "", re.sub(r"[^a-z0-9]+", "_", folder.lower()))
    if not module:
        message = f"the folder's name '{folder}' cannot be the name of a Python module"
        raise problem_error("PL-C023", message, "name one with a letter in it: phaseline init plugin my-plugin")
    return {"MODULE": module, "PACKAGE": module.replace("_", "-")}


def _filled(text: str, names: Mapping[str, str]) -> str:
    for placeholder, name in names.items():
        text = text.replace(placeholder, name)
    return text
