"""The parameters of each type of task: one table for ``tasks.yaml`` and ``deployment_tasks.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.value_forms import Form, FormKey, anything, choice, mapping, required, rows, text, whole

PERMISSIONS: Final = text("[0-7]{4}", "four digits from 0 to 7 in quotes, such as '0644'")
_FILE: Final = mapping("a file to be copied", {"src": required(text()), "dst": required(text())})
_STRATEGY: Final = mapping("a strategy", {"type": required(choice("parallel", "one_by_one")), "amount": whole(1)})
_NOT_EMPTY: Final = text(may_be_empty=False)
_COUNT: Final = whole(0)
_KEYS: Final[Mapping[str, Mapping[str, FormKey | Form]]] = {
    "shell": {
        "cmd": required(_NOT_EMPTY),
        "retries": _COUNT,
        "interval": _COUNT,
        "attempt_timeout": _COUNT,
        "cwd": text(),
    },
    "puppet": {
        "puppet_manifest": required(_NOT_EMPTY),
        "puppet_modules": required(_NOT_EMPTY),
        "retries": _COUNT,
    },
    "reboot": {},
    "copy_files": {
        "files": required(rows(_FILE, least=1, of="files with src and dst")),
        "permissions": PERMISSIONS,
        "dir_permissions": PERMISSIONS,
    },
    "sync": {"src": required(text()), "dst": required(text())},
    "upload_file": {"path": required(text()), "data": required(text())},
    "python": {
        "function": required(text(r"[\w.]+:\w+", "module:function")),
        "inputs": mapping("the inputs", {}),
        "retries": _COUNT,
    },
    "operation": {
        "operation": required(text(r"[\w-]+(\.[\w-]+)*", "an operation such as cloudify.interfaces.lifecycle.start")),
    },
}
"""{type: {parameter: form}}. All types also accept ``timeout`` and ``strategy``; types that are missing here run
nothing and accept no other parameter.
"""
_OF_THE_BLUEPRINT: Final = frozenset({"inputs", "retries", "interval"})
WITH_TIMEOUT: Final = frozenset({"puppet"})
"""Granular tasks that need a time limit; all stage tasks need one."""


def check_parameters(task_type: str, value: Any, spot: FileElement, *, of_stage: bool) -> None:
    """Check the parameters of a task of a known type. ``of_stage``: the task is in ``tasks.yaml``."""
    _form(task_type, of_stage=of_stage)(value, spot)
    if isinstance(value, dict) and value.get("timeout") == 0 and value.get("timeout") is not False:
        mend = "write how many seconds it may take; 0 is taken as no limit"
        spot.at("timeout").odd("PL-F054", "lets the task run for ever", mend, value=0)
    if isinstance(value, dict) and task_type == "operation":
        for name in _OF_THE_BLUEPRINT & value.keys():
            mend = "write it in the blueprint, where the operation is mapped"
            spot.at(name).odd("PL-F057", "has no effect: an operation is called as the blueprint maps it", mend)


def parameters_of(task_type: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (required, optional) parameters of a type; ``timeout`` and ``strategy``, which all types have, are not included."""
    own = _KEYS.get(task_type, {})
    needed = tuple(name for name, key in own.items() if isinstance(key, FormKey) and key.is_required)
    return needed, tuple(name for name in own if name not in needed)


def has_required(task_type: str) -> bool:
    """Return True if a task of this type must have parameters."""
    return bool(parameters_of(task_type)[0])


def _form(task_type: str, *, of_stage: bool) -> Form:
    own = _KEYS.get(task_type, {})
    needs_timeout = of_stage or task_type in WITH_TIMEOUT
    timeout = required(_COUNT) if needs_timeout else _COUNT
    names = f"a task of type {task_type}"
    return mapping(names, {**own, "timeout": timeout, "strategy": anything if of_stage else _STRATEGY})
