"""What packages say about one another."""

from tests.packages.made import metadata, package

from phaseline.model.packages.package import EVERYBODY, Package, Roles
from phaseline.packages.compatibility import misfits, overlaps
from phaseline.packages.format.role_selectors import fits, fits_name


def named(name: str, **more: str) -> Package:
    return package(5, metadata=metadata(5).replace("name: lma", f"name: {name}"), **more)


def test_f25_the_same_task_in_two_packages_is_told_with_both_names() -> None:
    (problem,) = overlaps([named("one"), named("two")])
    assert problem.code == "PL-F016"
    assert problem.message == "one-1.0.2 and two-1.0.2 both have the deployment task 'a'"


def test_roles_volumes_and_networks_have_one_owner_too() -> None:
    more = {
        "deployment_tasks": "[]",
        "node_roles": "web: {name: W, description: D}",
        "volumes": "volumes: [{id: v, type: t}]\nvolumes_roles_mapping: {}",
        "network_roles": "- {id: n, default_mapping: b, properties: {subnet: true, gateway: true, vip: [{name: a}]}}",
    }
    assert [problem.place.file for problem in overlaps([named("one", **more), named("two", **more)])] == [
        "node_roles.yaml",
        "volumes.yaml",
        "network_roles.yaml",
    ]
    assert overlaps([named("one", **more), named("two", deployment_tasks="[]")]) == ()


def test_components_must_fit() -> None:
    contrail = named(
        "contrail",
        deployment_tasks="[]",
        components="- {name: 'network:c', label: C, incompatible: [{name: 'network:*'}], requires: [{name: 'storage:x', message: Add x}]}",
    )
    nsx = named("nsx", deployment_tasks="[]", components="- {name: 'network:nsx', label: N}")
    disks = named("disks", deployment_tasks="[]", components="- {name: 'storage:x', label: X}")
    against, missing = misfits([contrail, nsx])
    assert "component network:c cannot be with network:nsx of nsx-1.0.2" in against.message
    assert missing.mend == "Add x"
    assert misfits([contrail, disks]) == ()


def test_roles_are_matched_by_name_and_from_the_start_by_expression() -> None:
    roles = Roles(("web",), ("(primary-)?controller",))
    assert [fits(roles, name) for name in ("web", "webs", "controller", "primary-controller", "controllers", "x")] == [
        *(True, False, True, True, True, False)
    ]
    assert fits(EVERYBODY, "x")
    assert not fits(Roles(scope="master"), "x")
    assert fits_name("a.c", "abc")
