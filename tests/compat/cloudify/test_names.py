"""The names that plugins import (C1): docs/cloudify.md says which there are, and it is right."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from phaseline.compat.cloudify import SHIM

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/cloudify.md"

STARRED = {
    "cloudify": "ctx manager context constants exceptions",
    "cloudify.decorators": "operation workflow",
    "cloudify.exceptions": "NonRecoverableError RecoverableError OperationRetry",
    "cloudify.state": "current_ctx ctx_parameters workflow_ctx",
    "cloudify.workflows": "ctx parameters api tasks tasks_graph local",
    "cloudify.plugins": "lifecycle workflows",
    "cloudify.manager": "get_rest_client DirtyTrackingDict",
    "cloudify.utils": "exception_to_error_cause",
    "cloudify.constants": "NODE_INSTANCE RELATIONSHIP_INSTANCE",
    "cloudify.context": "NODE_INSTANCE RELATIONSHIP_INSTANCE",
    "cloudify.mocks": "MockCloudifyContext MockNodeContext MockNodeInstanceContext MockRelationshipSubjectContext",
    "cloudify.proxy.client": "CTX_SOCKET_URL ScriptException",
    "cloudify_rest_client": "CloudifyClient exceptions",
    "script_runner.tasks": "ProcessException",
    "dsl_parser.exceptions": "DSLParsingException FunctionEvaluationError UnknownSecretError",
}
"""What seven public plugin repositories import."""


def table() -> dict[str, tuple[list[str], list[str]]]:
    """{module: (names that work, names that can only be imported)} of the page."""
    section = PAGE.read_text("utf-8").partition("## Which parts of the cloudify package exist")[2]
    rows = re.findall(r"^\| `([\w.]+)` \|(.*?)\|(.*?)\|$", section, re.MULTILINE)
    return {
        module: (re.findall(r"`(\w+)`", work), re.findall(r"`(\w+)`", importable)) for module, work, importable in rows
    }


TABLE = table()
IMPORT_ALL = """
import importlib, json, sys
problems = []
for module, names in json.load(sys.stdin).items():
    for name in names:
        namespace = {}
        try:
            exec(f"from {module} import {name}", namespace)
        except Exception as error:
            problems.append(f"{module}.{name}: {error}")
print(json.dumps(problems))
"""


def import_in_process(names: dict[str, list[str]]) -> list[str]:
    """What could not be imported in a fresh process with only the shim on its path."""
    environment = {**os.environ, "PYTHONPATH": str(SHIM)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL],
        input=json.dumps(names), env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_c1_every_starred_name_can_be_imported() -> None:
    assert import_in_process({module: names.split() for module, names in STARRED.items()}) == []


def test_c1_every_name_of_the_page_can_be_imported() -> None:
    assert len(TABLE) > 20
    assert import_in_process({module: [*work, *rest] for module, (work, rest) in TABLE.items()}) == []


def test_c1_page_names_every_starred_name() -> None:
    for module, names in STARRED.items():
        work, importable = TABLE[module]
        for name in names.split():
            documented = name in work or name in importable or f"{module}.{name}" in TABLE
            assert documented, f"{module}.{name}"


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, (_, importable) in TABLE.items() for name in importable]
)
def test_c1_name_that_is_only_importable_says_so_when_used(module: str, name: str) -> None:
    import importlib

    from cloudify.exceptions import NonRecoverableError

    found = getattr(importlib.import_module(module), name)
    for use in (found, lambda: found.part):
        with pytest.raises(NonRecoverableError, match=rf"{name} is not available yet: ..."):
            use()


def test_c1_submodules_are_loaded_when_they_are_named() -> None:
    code = "import sys, cloudify; assert 'cloudify.manager' not in sys.modules; cloudify.manager.get_rest_client"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SHIM)}, check=True)


def test_c1_exceptions_take_causes() -> None:
    from cloudify import exceptions

    arguments = {
        "HttpException": ("url", 404, "gone"),
        "CommandExecutionError": ("cmd", "why"),
        "CommandExecutionException": ("cmd", "err", "out", 3),
    }
    for name in TABLE["cloudify.exceptions"][0]:
        error = getattr(exceptions, name)(*arguments.get(name, ("message",)), causes=[{"message": "deep"}])
        assert error.causes == [{"message": "deep"}], name


def test_c1_recoverable_error_shows_its_time_once() -> None:
    from cloudify.exceptions import RecoverableError

    first = RecoverableError("busy", retry_after=5)
    assert str(first) == "busy [retry_after=5]"
    assert str(RecoverableError(str(first), retry_after=5)) == "busy [retry_after=5]"
    assert str(RecoverableError("busy")) == "busy"


def test_s15_what_our_problems_name_can_be_caught_under_these_names() -> None:
    from phaseline.dsl.text.cloudify_errors import ANCESTOR

    known = set(table()["dsl_parser.exceptions"][0])
    assert {kind for _, kind in ANCESTOR.values() if kind} - known <= {"ValueError", "KeyError"}
