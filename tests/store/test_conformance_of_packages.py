"""What every store promises (PackageShelf): packages with their files, who uses them, and what is kept for whom."""

import hashlib

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.packages.installed import PackageRow, PackageUse, PackageUser
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import NewExecution

META, SCRIPT = b"name: ntp\n", b"#!/bin/sh\n"


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def row(version: str = "1.0.1", name: str = "ntp", **more: object) -> PackageRow:
    return PackageRow(
        0, name, version, "4.0.0", more.pop("digest", f"d-{name}-{version}"), "NTP", "", 2, 20, 5, "ann", **more
    )


def install(store, new: PackageRow, body: bytes = META, **more: object) -> PackageRow | None:
    files = [
        StoredFile("metadata.yaml", digest(body), len(body)),
        StoredFile("run.sh", digest(SCRIPT), len(SCRIPT), True),
    ]
    return store.packages.add(new, files, {digest(body): body, digest(SCRIPT): SCRIPT}, **more)


def deployment(store, name: str = "shop", **more: object) -> int:
    return store.create_deployment(altered(a.deployment(), name=name, **more))[0]


@pytest.fixture
def ntp(store) -> PackageRow:
    return install(store, row())


def test_what_was_installed_is_found_again_with_its_files(store, ntp, reopen):
    store.close()
    shelf = reopen().packages
    assert shelf.all() == [ntp]
    assert (str(ntp), ntp.number > 0) == ("ntp==1.0.1", True)
    assert [(file.path, file.is_executable) for file in shelf.files(ntp.number)] == [
        ("metadata.yaml", False),
        ("run.sh", True),
    ]
    assert shelf.content(digest(META)) == META
    assert shelf.lacking([digest(META), "other"]) == ["other"]


def test_a_name_and_version_is_there_once_and_versions_stand_side_by_side(store, ntp):
    assert install(store, row(digest="other")) is None
    newer = install(store, row("1.1.0"))
    other = install(store, row(name="dns"))
    assert store.packages.all() == [other, ntp, newer]


def test_contents_that_are_missing_are_asked_for(store):
    with pytest.raises(LookupError):
        store.packages.add(row(), [StoredFile("metadata.yaml", "gone", 1)], {})
    assert store.packages.all() == []


def test_f37_who_used_the_version_before_uses_the_one_in_its_place(store, ntp):
    number = deployment(store)
    store.packages.use(PackageUse(number, ntp.number, True, False, {"server": "a"}, ("/old",), 7, "ann"))
    newer = install(store, row("1.0.2"), b"new", replaces=ntp.number, folders=["/new"])
    after = PackageUse(number, newer.number, True, False, {"server": "a"}, ("/new",), 7, "ann")
    assert store.packages.all() == [newer]
    assert store.packages.uses(number) == [after]
    assert store.deployment("shop").code.packages == ("/new",)
    assert install(store, row("1.0.3"), replaces=ntp.number) is None


def test_f38_a_package_that_is_used_is_not_removed(store, ntp):
    number = deployment(store)
    store.packages.use(PackageUse(number, ntp.number))
    assert store.packages.remove(ntp.number) == [PackageUser("shop", is_enabled=True)]
    assert store.packages.all() == [ntp]
    store.packages.leave(number, ntp.number)
    assert store.packages.remove(ntp.number) == []
    assert store.packages.all() == []


def test_a_deployment_that_is_deleted_uses_nothing(store, ntp):
    number = deployment(store)
    store.packages.use(PackageUse(number, ntp.number))
    store.delete_deployment(number)
    assert store.packages.users(ntp.number) == []
    with pytest.raises(ProblemsError) as raised:
        store.packages.use(PackageUse(number, ntp.number))
    assert raised.value.problems[0].code == "PL-C010"


def test_f41_a_deployment_uses_one_version_of_a_name(store, ntp):
    newer, number = install(store, row("1.1.0")), deployment(store)
    store.packages.use(PackageUse(number, ntp.number))
    store.packages.use(PackageUse(number, newer.number))
    assert [use.package for use in store.packages.uses(number)] == [newer.number]


def test_what_a_blueprint_needs_is_stored_with_its_deployment(store, ntp):
    number = deployment(
        store, packages=(PackageUse(0, ntp.number, is_enabled=False, is_imported=True, folders=("/x/python",)),)
    )
    assert store.packages.users(ntp.number) == [PackageUser("shop", is_enabled=False)]
    assert store.deployments()[0].code.packages == ("/x/python",)
    store.packages.find_again({"/x/python": "/y/python"})
    assert store.packages.uses(number)[0].folders == ("/y/python",)


def test_a_package_that_is_gone_is_used_by_nobody(store, ntp):
    store.packages.remove(ntp.number)
    with pytest.raises(ProblemsError) as raised:
        deployment(store, packages=(PackageUse(0, ntp.number),))
    assert raised.value.problems[0].code == "PL-F062"


def test_nothing_is_changed_while_an_execution_is_open(store, ntp):
    number = deployment(store)
    store.create_execution(NewExecution(number, a.REQUEST, a.ANN, 1_000))
    for change in (
        lambda: store.packages.use(PackageUse(number, ntp.number)),
        lambda: store.packages.leave(number, ntp.number),
    ):
        with pytest.raises(ProblemsError) as raised:
            change()
        assert raised.value.problems[0].code == "PL-C016"


@pytest.mark.parametrize(
    ("status", "is_kept"),
    [
        (ExecutionStatus.RUNNING, True),
        (ExecutionStatus.FAILED, True),
        (ExecutionStatus.CANCELED, True),
        (ExecutionStatus.COMPLETED, False),
    ],
)
def test_files_of_before_are_kept_for_whoever_may_go_on_with_them(store, ntp, clock, status, is_kept):
    number = deployment(store)
    execution = store.create_execution(NewExecution(number, a.REQUEST, a.ANN, clock.now()))
    a.end(store, execution.number, status)
    clock.time += 1
    newer = install(store, row("1.0.2"), b"new", replaces=ntp.number)
    assert store.packages.kept() == {ntp.digest: ntp.number, newer.digest: newer.number}
    assert store.packages.collect() == ([] if is_kept else [ntp.digest])
    assert store.packages.lacking([digest(META), digest(SCRIPT)]) == ([] if is_kept else [digest(META)])


def test_executions_of_later_need_nothing_of_before(store, ntp, clock):
    store.packages.remove(ntp.number)
    clock.time += 1
    store.create_execution(NewExecution(deployment(store), a.REQUEST, a.ANN, clock.now()))
    assert store.packages.collect() == [ntp.digest]


def test_a_purge_takes_uses_of_deployments_that_are_gone(store, ntp):
    number = deployment(store)
    store.packages.use(PackageUse(number, ntp.number))
    store.delete_deployment(number)
    a.purge(store, 10**15)
    assert store.packages.uses(number) == []
    assert list(store.check()) == []
