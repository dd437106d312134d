"""Deployment groups are created, extended, shrunk and deleted (GR1, GR2, GR11, A45)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.client.estate.member_files import read_members
from phaseline.embedded.engine_commands import run_engine
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.estate.groups import (
    GroupOrder,
    create_group,
    delete_group,
    extend_group,
    shrink_group,
)
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.group_members import MemberInputs, NewMembers
from phaseline.use_cases.queries.deployments import show_deployment
from phaseline.use_cases.queries.estate.groups import list_groups, show_group

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
inputs:
  port: {type: integer, default: 80}
  pin: {type: string, required: false, hidden: true}
labels: {kind: {values: [shop]}}
node_templates:
  net:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 2}}}
"""


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/blueprint.yaml").write_text(BLUEPRINT)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "shop/blueprint.yaml")


def wanted(file: str | None, members: NewMembers = NewMembers(2), **others: Any) -> GroupOrder:  # noqa: B008 - frozen
    return GroupOrder(file, members=members, **others)


def each(*inputs: dict[str, Any]) -> NewMembers:
    return NewMembers(each=[MemberInputs(one) for one in inputs])


def names(ctx: RequestContext) -> list[str]:
    return [row.name for row in ctx.store.deployments()]


def refused(ctx: RequestContext, order: GroupOrder, name: str = "shops") -> list[Problem]:
    """What is wrong with a group; nothing of it is stored."""
    before = names(ctx), list_groups(ctx)
    with pytest.raises(ProblemsError) as caught:
        create_group(ctx, name, order)
    assert (names(ctx), list_groups(ctx)) == before
    return list(caught.value.problems)


def codes(problems: Sequence[Problem]) -> list[str]:
    return [problem.code for problem in problems]


def test_gr1_a_group_has_the_members_that_it_made_with_its_inputs_and_labels(ctx: RequestContext, file: str) -> None:
    view = create_group(ctx, "shops", wanted(file, inputs={"port": 8080}, labels=["env=prod"], description="all"))
    assert (view.count, view.statuses, view.description) == (2, {"not_installed": 2}, "all")
    assert list(view.members) == names(ctx)
    assert all(name.startswith("shops-") for name in view.members)
    for name in view.members:
        assert show_deployment(ctx, name).inputs["port"] == 8080
        row = ctx.store.deployment(name)
        assert row is not None
        assert {(one.key, one.value) for one in ctx.store.labels.of(row.number)} == {("env", "prod"), ("kind", "shop")}


def test_gr1_each_line_of_inputs_is_a_member_and_may_name_it(ctx: RequestContext, file: str) -> None:
    view = create_group(
        ctx, "shops", wanted(file, each({"id": "north", "port": 1}, {"port": 2}), inputs={"port": 9, "pin": "x"})
    )
    assert len(view.members) == 2
    ports = {name: show_deployment(ctx, name).inputs["port"] for name in view.members}
    assert ports.pop("north") == 1
    assert [*ports.values()] == [2]
    assert view.inputs == {"port": 9, "pin": "(hidden)"}


def test_gr1_an_input_called_id_is_an_input(ctx: RequestContext, file: str) -> None:
    Path(file).write_text(BLUEPRINT.replace("inputs:\n", "inputs:\n  id: {type: string}\n"))
    (name,) = create_group(ctx, "shops", wanted(file, each({"id": "north"}))).members
    assert name != "north"
    assert show_deployment(ctx, name).inputs["id"] == "north"


def test_gr2_members_that_differ_only_in_ids_share_all_but_these(ctx: RequestContext, file: str) -> None:
    create_group(ctx, "shops", wanted(file, NewMembers(3)))
    topologies = [ctx.store.topology(row.number) for row in ctx.store.deployments()]
    assert len({id for topology in topologies for id in topology.ids}) == 6


def test_gr2_a_template_of_the_blueprint_names_members_and_counts_on(ctx: RequestContext, file: str) -> None:
    Path(file).write_text(BLUEPRINT + "deployment_settings: {id_template: '{blueprint_id}-{group_id}-{count}'}\n")
    create_group(ctx, "shops", wanted(file))
    view = extend_group(ctx, "shops", wanted(None, NewMembers(1)))
    assert list(view.members) == ["shop-shops-1", "shop-shops-2", "shop-shops-3"]


def test_gr2_a_template_without_a_variable_part_is_refused(ctx: RequestContext, file: str) -> None:
    Path(file).write_text(BLUEPRINT + "deployment_settings: {id_template: '{group_id}-shop'}\n")
    assert codes(refused(ctx, wanted(file))) == ["PL-C165"]


def test_gr2_more_than_a_transaction_of_members(ctx: RequestContext, file: str) -> None:
    view = create_group(ctx, "shops", wanted(file, NewMembers(1_001)))
    assert (view.count, len(view.members)) == (1_001, 1_000)


def test_a45_three_mistakes_in_a_thousand_lines_are_three_problems_with_lines(
    ctx: RequestContext, file: str, tmp_path: Path
) -> None:
    lines = ["id,port", *(f"shop-{at},{at}" for at in range(1_000))]
    lines[7], lines[500], lines[1_000] = "shop-6,many", "shop-499,", "shop-0,4.5"
    lines[501] = "a/b,1"
    (tmp_path / "shops.csv").write_text("\n".join(lines))
    found = refused(ctx, wanted(file, NewMembers(each=read_members(str(tmp_path / "shops.csv")))))
    assert [(one.code, one.place.line) for one in found] == [("PL-B082", 8), ("PL-B082", 1_001), ("PL-C021", 502)]
    assert {one.place.file for one in found} == {str(tmp_path / "shops.csv")}


def test_gr2_two_members_of_one_name_and_a_taken_name_are_refused(ctx: RequestContext, file: str) -> None:
    create(ctx, DeploymentSpec(file, "south"))
    found = refused(ctx, wanted(file, each({"id": "north"}, {"id": "south"}, {"id": "north"})))
    assert codes(found) == ["PL-S010", "PL-C166"]


def test_gr1_a_mistake_that_all_members_have_is_told_once(ctx: RequestContext, file: str) -> None:
    assert codes(refused(ctx, wanted(file, NewMembers(50), inputs={"port": "x"}))) == ["PL-B082"]


@pytest.mark.parametrize("name", ["", "a/b", "run-7"])
def test_gr1_a_name_that_no_group_can_have(ctx: RequestContext, file: str, name: str) -> None:
    assert codes(refused(ctx, wanted(file), name)) == ["PL-C162"]


def test_gr1_a_name_is_given_once(ctx: RequestContext, file: str) -> None:
    create_group(ctx, "shops", wanted(file))
    assert codes(refused(ctx, wanted(file))) == ["PL-C161"]


@pytest.mark.parametrize("count", [-1, 100_001])
def test_gr1_a_count_out_of_bounds(ctx: RequestContext, file: str, count: int) -> None:
    assert codes(refused(ctx, wanted(file, NewMembers(count)))) == ["PL-C163"]


def test_gr1_new_members_need_a_blueprint(ctx: RequestContext) -> None:
    assert codes(refused(ctx, wanted(None))) == ["PL-C163"]


def test_gr1_all_that_does_not_exist_is_told(ctx: RequestContext) -> None:
    order = GroupOrder(deployments=["north", "south"], from_groups=["others"])
    assert codes(refused(ctx, order)) == ["PL-C010", "PL-C010", "PL-C160"]


def test_gr1_a_blueprint_deleted_meanwhile_leaves_the_group_as_it_is(ctx: RequestContext, file: str) -> None:
    create_group(ctx, "shops", wanted(file))
    Path(file).unlink()
    with pytest.raises(ProblemsError):
        extend_group(ctx, "shops", wanted(None, NewMembers(1)))
    assert show_group(ctx, "shops").count == 2


def test_gr1_deployments_and_the_members_of_other_groups_join_as_they_are(ctx: RequestContext, file: str) -> None:
    create(ctx, DeploymentSpec(file, "north"))
    create_group(ctx, "shops", wanted(file))
    view = create_group(ctx, "all", GroupOrder(deployments=["north"], from_groups=["shops"]))
    assert view.count == 3
    assert extend_group(ctx, "all", GroupOrder(from_groups=["all"])).count == 3


def test_gr1_a_secret_input_of_a_group_is_stored_encrypted_and_used_for_later_members(
    ctx: RequestContext, file: str
) -> None:
    create_group(ctx, "shops", wanted(file, inputs={"pin": "geheim"}))
    row = ctx.store.groups.find("shops")
    assert row is not None
    assert "geheim" not in str(row.inputs)
    view = extend_group(ctx, "shops", wanted(None, NewMembers(1)))
    pins = [ctx.store.inputs(one.number)["pin"] for one in ctx.store.groups.members(row)]
    assert [ctx.vault.unsealed(pin) for pin in pins] == ["geheim"] * view.count


def test_gr1_shrinking_leaves_the_deployments(ctx: RequestContext, file: str) -> None:
    members = create_group(ctx, "shops", wanted(file, NewMembers(3))).members
    create_group(ctx, "few", GroupOrder(deployments=[members[0]]))
    view = shrink_group(ctx, "shops", deployments=[members[1]], from_groups=["few"])
    assert list(view.members) == [members[2]]
    assert names(ctx) == list(members)


def test_gr1_shrinking_by_nothing_or_by_a_stranger_is_refused(ctx: RequestContext, file: str) -> None:
    create(ctx, DeploymentSpec(file, "north"))
    create_group(ctx, "shops", wanted(file))
    for words in ({}, {"deployments": ["north"]}):
        with pytest.raises(ProblemsError) as caught:
            shrink_group(ctx, "shops", **words)
        assert codes(caught.value.problems) == ["PL-C163"]


def test_gr11_a_deleted_group_forgets_membership_only(ctx: RequestContext, file: str) -> None:
    members = create_group(ctx, "shops", wanted(file)).members
    assert delete_group(ctx, "shops").count == 2
    assert (names(ctx), list_groups(ctx)) == (list(members), [])


def test_gr11_members_are_deleted_unless_one_of_them_lives(ctx: RequestContext, file: str) -> None:
    create_group(ctx, "shops", wanted(file))
    install(ctx, DeploymentSpec(file, "north"))
    run_engine(ctx, until_idle=True)
    extend_group(ctx, "shops", GroupOrder(deployments=["north"]))
    with pytest.raises(ProblemsError) as caught:
        delete_group(ctx, "shops", delete_deployments=True)
    assert codes(caught.value.problems) == ["PL-C167"]
    assert "north" in str(caught.value)
    assert show_group(ctx, "shops").count == 3
    shrink_group(ctx, "shops", deployments=["north"])
    delete_group(ctx, "shops", delete_deployments=True)
    assert names(ctx) == ["north"]


def test_gr1_an_unknown_group_is_told_with_the_names_there_are(ctx: RequestContext, file: str) -> None:
    create_group(ctx, "shops", wanted(file))
    with pytest.raises(ProblemsError) as caught:
        show_group(ctx, "shop")
    (problem,) = caught.value.problems
    assert (problem.code, "shops" in problem.mend) == ("PL-C160", True)
