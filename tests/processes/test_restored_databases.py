"""A database put back, or a store moved into one: a cloud that honours client tokens gives nobody the machines of another (BK4)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.test_restored_stores import MADE, World
from tests.store.postgres_server import new_schema

from phaseline.testing.fake_cloud import CloudServer, Pace, open_cloud


class Databases(World):
    """Real commands over a store in a file or in a database."""

    url = ""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "PHASELINE_STORE_URL": self.url}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Databases]:
    with open_cloud(tmp_path / "cloud", Pace(boot_ms=1)) as cloud, CloudServer(cloud) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield Databases(tmp_path, server)
        finally:
            server.shutdown()
            serving.join()


def test_bk4_nothing_made_after_the_backup_is_handed_to_another_deployment_of_a_database(world: Databases) -> None:
    world.url = new_schema()
    world.install("alpha")
    backup = str(world.folder / "backup.db")
    world.say("store", "backup", backup)
    world.install("beta")
    assert world.say("store", "restore", backup)["kept"].endswith("_before_restore_1")
    world.install("gamma")
    world.say("store", "restore", backup)  # the same once more: what was made since the first time is lost, too
    world.install("delta")
    report = world.server.cloud.report()
    assert (report.created, report.tokens_again) == (4 * MADE, 0)
    assert world.say("store", "check")["findings"] == []


def test_bk4_a_store_that_was_moved_and_the_former_one_have_different_tokens(world: Databases) -> None:
    here, there = f"sqlite:///{world.folder}/store.db", new_schema()
    world.url = here
    world.install("alpha")
    world.say("store", "copy", here, there)
    world.install("beta")
    world.url = there
    world.install("gamma")
    back = f"sqlite:///{world.folder}/back.db"
    world.say("store", "copy", there, back)
    world.url = back
    world.install("delta")
    world.say("uninstall", "-d", "alpha")
    report = world.server.cloud.report()
    assert (report.created, report.tokens_again) == (4 * MADE, 0)
