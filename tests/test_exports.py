"""What is public, name by name: everything else is free to change."""

import inspect
import subprocess
import sys

import pytest

import phaseline
import phaseline.testing
from phaseline.client import open as opening
from phaseline.client.client import Client, NounOf
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
    "": {"status", "doctor", "init", "close", "request_id"},
    "blueprints": {
        *("validate", "plan", "upload", "list", "show", "delete", "package"),
        *("merge", "diff", "explain", "schema", "graph"),
    },
    "deployments": {
        *("list", "show", "history", "create", "update", "labels", "find", "graph"),
        *("inputs", "outputs", "capabilities", "compute", "delete", "dependencies"),
        *("export", "adopt", "abandon"),
    },
    "executions": {
        *(
            "install",
            "uninstall",
            "start",
            "resume",
            "retry",
            "complete",
            "approve",
            "wake",
            "rerun",
            "cancel",
            "watch",
        ),
        *("list", "show", "logs", "events", "timeline", "follow", "purge"),
        *("event_pages", "stream_logs", "stream_events", "tail", "is_built_in"),
    },
    "plans": {"make", "update", "uninstall", "adopt", "list", "show", "apply", "delete"},
    "breakpoints": {"list", "kept", "add", "remove", "clear"},
    "instances": {"list", "show", "why", "stuck", "mark_unhealthy", "restrict", "signal"},
    "plugins": {
        *("list", "show", "check", "reload", "install_definitions", "remove_definitions"),
        *("packages", "show_package", "create", "build", "install", "update", "remove", "register", "sync", "order"),
        *("enabled", "enable", "disable", "show_any", "remove_any", "try_function"),
    },
    "phases": {"list", "show", "pause", "unpause", "forget"},
    "hooks": {"list", "show", "disable", "enable", "reload", "test"},
    "groups": {
        *("create", "list", "show", "extend", "shrink", "delete", "run", "runs", "follow", "events", "failures"),
        *("pause", "resume", "cancel", "retry", "set"),
    },
    "schedules": {"create", "update", "list", "show", "preview", "history", "timer", "enable", "disable", "delete"},
    "snapshots": {"create", "list", "show", "restore", "plan_restore", "delete"},
    "abandoned": {"list", "show"},
    "secrets": {"create", "update", "list", "show", "delete", "rotate"},
    "resources": {
        *("apply", "export", "list", "show", "history", "why", "target"),
        *("retry", "complete", "rerun", "wake", "signal", "cancel", "delete"),
    },
    "engine": {"run", "status", "stop"},
    "store": {"check", "backup", "restore", "go_on", "compact", "copy", "upgrade"},
    "records": {"format", "eval"},
    "completion": {"names"},
}
"""{noun: its methods}; of the client itself under an empty name."""
HEAVY = {"numpy", "yaml", "sqlite3", "asyncio", "subprocess", "click", "rich", "jinja2", "logging", "stevedore"}


def public_methods(noun: str) -> dict[str, object]:
    kind = vars(Client)[noun].kind if noun else Client
    return {name: value for name, value in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_the_package_has_these_names() -> None:
    assert set(phaseline.__all__) == PUBLIC
    assert all(hasattr(phaseline, name) for name in PUBLIC)


def test_the_kit_has_these_names() -> None:
    assert set(phaseline.testing.__all__) == TESTING


def test_a_client_has_these_nouns() -> None:
    assert {name for name, value in vars(Client).items() if isinstance(value, NounOf)} == METHODS.keys() - {""}


@pytest.mark.parametrize("noun", METHODS)
def test_each_noun_has_these_methods(noun: str) -> None:
    assert set(public_methods(noun)) == METHODS[noun]


@pytest.mark.parametrize("noun", METHODS)
def test_at_most_two_arguments_are_given_by_their_place_and_no_flag(noun: str) -> None:
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
    assert phaseline.open is opening.open_phaseline
    assert set(dir(phaseline)) >= PUBLIC


def test_a_name_that_is_not_public_is_told_as_ever() -> None:
    with pytest.raises(AttributeError, match="module 'phaseline' has no attribute 'install'"):
        _ = phaseline.install  # type: ignore[attr-defined]  # which is the point
