"""Keys of ``metadata.yaml`` in our own format only: types, phases, hooks, Python code, and when tasks run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from phaseline.model.packages.package import WORKFLOWS, PackageCode, PackageHookClass
from phaseline.packages.format.package_contents import PackageContents
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.value_forms import TEXTS, Form, FormKey, each, mapping, required, rows, text, truth

NATIVE_KEYS: Final = ("types", "phases", "hooks", "python", "stages")
ENTRY_POINTS: Final = ("phaseline.phases", "phaseline.operations", "phaseline.hooks", "phaseline.workflows")
_TARGET: Final = text(r"\w+(\.\w+)*:\w+(\.\w+)*", "module:name, such as acme.hooks:Quota")
_MODULE: Final = text(r"\w+(\.\w+)*(:\w+(\.\w+)*)?", "a module, or module:name, such as acme.operations")


def _hook(value: Any, spot: FileElement) -> None:
    """Check the description of a hook: ``module:Class``, or a mapping with further keys."""
    if isinstance(value, str):
        _TARGET(value, spot)
    else:
        mapping(
            "a hook class",
            {
                "class": required(_TARGET),
                "name": text(may_be_empty=False),
                "options": mapping("the options", {}),
                "optional": truth,
            },
            is_closed=True,
        )(value, spot)


def _entry_points(value: Any, spot: FileElement) -> None:
    group = each(r"\S+", "a name without spaces", _MODULE, title="names and what they stand for")
    mapping("the entry points", dict.fromkeys(ENTRY_POINTS, group), is_closed=True)(value, spot)


def native_keys() -> Mapping[str, FormKey | Form]:
    """Return {key: form} for the keys that only our own format has."""
    return {
        "types": TEXTS,
        "phases": TEXTS,
        "hooks": rows(_hook, of="classes, module:Class"),
        "python": mapping("python", {"paths": TEXTS, "entry_points": _entry_points}, is_closed=True),
        "stages": mapping("stages", {"on": rows(workflow_name, of="workflows")}, is_closed=True),
    }


def workflow_name(value: Any, spot: FileElement) -> None:
    """Check the name of a workflow, which may be built in or declared by a blueprint."""
    text(r"[\w.-]+", "the name of a workflow")(value, spot)


def check_native(metadata: Mapping[str, Any], spot: FileElement, contents: PackageContents) -> None:
    """Check that the files and folders which the metadata name exist."""
    for place, path in _texts(metadata.get("types")):
        if not contents.has_file(path):
            mend = f"put the file '{path}' into the package; it declares node types as a definition file does"
            spot.at("types", place).wrong("PL-F040", "is no file of the package", mend, value=path)
    for place, path in _texts(metadata.get("phases")):
        if not contents.has_file(path) and not contents.has_folder(path):
            mend = f"put '{path}' into the package: a folder of phase plugins, or a file of one"
            spot.at("phases", place).wrong("PL-F040", "is neither file nor folder of the package", mend, value=path)
    python = metadata.get("python")
    for place, path in _texts(python.get("paths") if isinstance(python, dict) else None):
        if not contents.has_folder(path):
            mend = f"make the folder '{path}' in the package; it is put on the path of Python"
            spot.at("python", "paths", place).wrong("PL-F040", "is no folder of the package", mend, value=path)
    needs_code = metadata.get("hooks") or (isinstance(python, dict) and python.get("entry_points"))
    if needs_code and not (isinstance(python, dict) and python.get("paths")) and not contents.has_folder("python"):
        mend = "put the code into a folder 'python' of the package, or name the folders in python: {paths: [...]}"
        spot.at("python").wrong("PL-F041", "there is no folder with the code of hooks and entry points", mend)


def _texts(value: Any) -> list[tuple[int, str]]:
    rows_of = value if isinstance(value, list) else []
    return [(place, item) for place, item in enumerate(rows_of) if isinstance(item, str)]


def made_code(metadata: Mapping[str, Any], contents: PackageContents) -> PackageCode:
    """Return the description of the Python code of a package whose metadata have been checked."""
    python = metadata.get("python") or {}
    default = ("python",) if contents.has_folder("python") else ()
    return PackageCode(
        tuple(python.get("paths") or default),
        tuple(metadata.get("phases") or ()),
        tuple(metadata.get("types") or ()),
        tuple(_made_hook(item) for item in metadata.get("hooks") or ()),
        python.get("entry_points") or {},
    )


def _made_hook(item: Any) -> PackageHookClass:
    if isinstance(item, str):
        return PackageHookClass(item)
    return PackageHookClass(item["class"], item.get("name", ""), item.get("options") or {}, item.get("optional", False))


def workflows_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the workflows for tasks that do not name their workflows themselves."""
    return tuple((metadata.get("stages") or {}).get("on") or WORKFLOWS)
