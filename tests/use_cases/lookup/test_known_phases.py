"""What a long-lived program knows of phases follows what other processes install."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_packages_in_use import acme

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.use_cases.commands.packages.install import install
from phaseline.use_cases.commands.packages.remove import remove
from phaseline.use_cases.lookup.known_phases import found_phases, phase_plugins


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[tuple[RequestContext, RequestContext]]:
    """Two processes at one store, as far as it can tell."""
    settings = Settings(f"sqlite:///{tmp_path}/store.db")
    with open_context(settings, "one") as one, open_context(settings, "another") as another:
        yield one, another


def names(ctx: RequestContext) -> list[str]:
    return [phase.name for phase in found_phases(ctx).registry.phases]


def test_phases_of_a_package_that_another_process_installs_or_removes_are_seen(
    clients: tuple[RequestContext, RequestContext], tmp_path: Path
) -> None:
    one, another = clients
    assert (names(one), names(another)) == ([], [])
    install(another, acme(tmp_path))
    assert (names(one), names(another)) == (["Acme.Create"], ["Acme.Create"])
    remove(another, "acme==1.0.0")
    assert (names(one), names(another)) == ([], [])


def test_they_are_read_once_while_nothing_is_installed(
    clients: tuple[RequestContext, RequestContext], tmp_path: Path
) -> None:
    one, _ = clients
    install(one, acme(tmp_path))
    assert found_phases(one) is found_phases(one)


def test_what_an_engine_of_this_process_has_in_force_is_left_to_a_reload(
    clients: tuple[RequestContext, RequestContext], tmp_path: Path
) -> None:
    one, another = clients
    in_force = phase_plugins(one)
    in_force.load()
    install(another, acme(tmp_path))
    assert names(one) == ["Acme.Create"]
    assert phase_plugins(one) is in_force
    assert list(in_force.loaded.registry.phases) == []
