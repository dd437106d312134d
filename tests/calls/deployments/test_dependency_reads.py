"""DP5, DP6: which deployments one reads, and which read it."""

from __future__ import annotations

from tests.calls.deployments.estates import Estate

from phaseline.calls.deployments.dependency_reads import read_by, readers_of


def test_dp6_parents_and_environments_follow_the_labels() -> None:
    estate = Estate()
    net = estate.add("net")
    child = estate.add(
        "child", outputs={"x": {"get_environment_capability": "x"}}, labels={"csys-obj-parent": ["net", "gone"]}
    )
    store = estate.store.of("default_tenant")
    found = [(one.dependency.kind, one.name, one.row is not None) for one in read_by(store, child)]
    assert found == [("environment", "net", True), ("parent", "gone", False), ("parent", "net", True)]
    records = [record for page in readers_of(store, net) for record in page]
    assert [(one.name, one.dependency.kind) for one in records] == [("child", "parent"), ("child", "environment")]


def test_dp5_readers_come_in_pages_with_the_children_last() -> None:
    estate = Estate()
    net = estate.add("net")
    estate.add("child", labels={"csys-obj-parent": ["net"]})
    for at in range(5):
        estate.add(f"app{at}", outputs={"x": {"get_capability": ["net", "x"]}})
    pages = [[one.name for one in page] for page in readers_of(estate.store.of("default_tenant"), net, page=2)]
    assert pages == [["app0", "app1"], ["app2", "app3"], ["app4"], ["child"]]
