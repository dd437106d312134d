"""What is public, name by name: everything else is free to change."""

import inspect
import subprocess
import sys

import pytest

import phaseline
import phaseline.testing
from phaseline.client import executions as execution_noun
from phaseline.client import hooks as hook_noun
from phaseline.client import local as facade
from phaseline.client import plugins as plugin_nouns
from phaseline.client import resources as resource_noun
from phaseline.client import secrets as secret_noun
from phaseline.client import snapshots as snapshot_noun
from phaseline.model.blueprint import operation_declaration as declaration

PUBLIC = {
    "AttributeTypeError",
    "Expression",
    "LifecycleHook",
    "NonRecoverableError",
    "NotInRun",
    "PermanentError",
    "Phaseline",
    "Place",
    "Problem",
    "ProblemsError",
    "ReadOnlyError",
    "Record",
    "RecoverableError",
    "RunFinished",
    "TemporaryError",
    "__version__",
    "open",
    "operation",
    "phase",
    "thaw",
}
TESTING = {
    *("FakeBatch", "FakeItem", "Subject", "Tried", "call", "fake_batch", "fake_item"),
    *("CrashPoint", "crash_points"),
    *("LoadedPhase", "load_phase"),
    *("Called", "Rehearsal", "Says", "completes", "fails", "rehearse", "retries", "sleeps"),
    *("Broken", "Story", "simulate"),
    "VirtualClock",
}
METHODS = {
    facade.Phaseline: {"status", "close", "request_id"},
    facade.Blueprints: {"validate", "plan", "upload", "list", "show", "delete", "package"},
    facade.Deployments: {
        *("list", "show", "history", "create", "update", "labels"),
        *("inputs", "outputs", "capabilities", "delete"),
        *("export", "adopt", "abandon"),
    },
    execution_noun.Executions: {
        *("install", "uninstall", "start", "resume", "retry", "complete", "approve", "wake", "rerun", "cancel"),
        *("list", "show", "logs", "events", "timeline", "follow", "purge"),
    },
    facade.Instances: {"list", "show", "why", "stuck", "mark_unhealthy", "restrict", "signal"},
    plugin_nouns.Plugins: {
        *("list", "show", "check", "reload", "install_definitions", "remove_definitions"),
        *("packages", "show_package", "create", "build", "install", "update", "remove", "register", "sync", "order"),
        *("enabled", "enable", "disable"),
    },
    plugin_nouns.Phases: {"list", "show", "pause", "unpause"},
    hook_noun.Hooks: {"list", "show", "disable", "enable", "reload", "test"},
    snapshot_noun.Snapshots: {"create", "list", "show", "restore", "plan_restore", "delete"},
    snapshot_noun.Abandoned: {"list", "show"},
    secret_noun.Secrets: {"create", "update", "list", "show", "delete", "rotate"},
    resource_noun.Resources: {
        *("apply", "export", "list", "show", "history", "why", "target"),
        *("retry", "complete", "rerun", "wake", "signal", "cancel", "delete"),
    },
    facade.EngineDoor: {"run", "status", "stop"},
}
HEAVY = {"numpy", "yaml", "sqlite3", "asyncio", "subprocess", "click", "rich", "jinja2", "logging", "stevedore"}


def public_methods(noun: type) -> dict[str, object]:
    return {name: value for name, value in inspect.getmembers(noun, inspect.isfunction) if not name.startswith("_")}


def test_the_package_has_these_names() -> None:
    assert set(phaseline.__all__) == PUBLIC
    assert all(hasattr(phaseline, name) for name in PUBLIC)


def test_the_kit_has_these_names() -> None:
    assert set(phaseline.testing.__all__) == TESTING


@pytest.mark.parametrize("noun", METHODS, ids=lambda noun: noun.__name__)
def test_each_noun_has_these_methods(noun: type) -> None:
    assert set(public_methods(noun)) == METHODS[noun]


@pytest.mark.parametrize("noun", METHODS, ids=lambda noun: noun.__name__)
def test_at_most_two_arguments_are_given_by_their_place_and_no_flag(noun: type) -> None:
    for name, method in public_methods(noun).items():
        by_place = [
            parameter
            for parameter in list(inspect.signature(method).parameters.values())[1:]
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        assert len(by_place) <= 2, name
        assert not any(isinstance(parameter.default, bool) for parameter in by_place), name


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, phaseline; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & HEAVY
    assert not [name for name in loaded if name.startswith("phaseline.")]


def test_a_name_is_imported_when_it_is_used() -> None:
    assert phaseline.operation is declaration.operation
    assert phaseline.open is facade.open_phaseline
    assert set(dir(phaseline)) >= PUBLIC


def test_a_name_that_is_not_public_is_told_as_ever() -> None:
    with pytest.raises(AttributeError, match="module 'phaseline' has no attribute 'install'"):
        _ = phaseline.install  # type: ignore[attr-defined]  # which is the point
