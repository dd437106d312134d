"""Lists read what they show from columns: they answer though no blueprint can be read, and ask a store little."""

import sqlite3
from pathlib import Path

import pytest

import phaseline
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.apply_plan import list_plans, show_plan
from phaseline.use_cases.commands.keep_plan import plan_uninstall
from phaseline.use_cases.commands.upload_blueprint import list_blueprints
from phaseline.use_cases.lookup.find import find_instance
from phaseline.use_cases.queries.deployments import list_deployments, show_deployment
from phaseline.use_cases.queries.executions import list_executions
from phaseline.use_cases.queries.instances import list_instances
from phaseline.use_cases.queries.status import status
from phaseline.use_cases.queries.stuck import list_stuck
from phaseline.use_cases.tools import completion as completing

TEXT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.WebServer, instances: {deploy: 3}}
"""
LISTS = {
    "deployments": list_deployments,
    "of a status": lambda place: list_deployments(place, status="good"),
    "executions": list_executions,
    "instances": list_instances,
    "of a node": lambda place: list_instances(place, node="web"),
    "of a state": lambda place: list_instances(place, state="started"),
    "plans": list_plans,
    "blueprints": list_blueprints,
    "status": status,
    "stuck": list_stuck,
    "names of instances": lambda place: completing.instance_ids(place, "web_"),
}
COUNT = 6


def filled(folder: Path, count: int) -> Path:
    """A store with so many deployments that have a kept plan each, and so many stored blueprints."""
    file, path = folder / "blueprint.yaml", folder / "store.db"
    file.write_text(TEXT)
    with phaseline.open(f"sqlite:///{path}") as opened:
        for number in range(count):
            opened.executions.install(str(file), f"shop-{number}")
            plan_uninstall(opened.ctx, f"shop-{number}", save=True)
            opened.blueprints.upload(str(file), f"kept-{number}")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return filled(tmp_path_factory.mktemp("many"), COUNT)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return filled(tmp_path_factory.mktemp("few"), 1)


@pytest.fixture
def shop(made, tmp_path):
    """(an open Phaseline, the path of its store), a copy for each test."""
    path = tmp_path / "store.db"
    path.write_bytes(made.read_bytes())
    with phaseline.open(f"sqlite:///{path}") as opened:
        yield opened, path


def without_blueprints(path: Path) -> None:
    """None that is stored can be read any more."""
    with sqlite3.connect(path) as db:
        db.execute("update blueprint set body = '{'")
    db.close()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_reads_no_blueprint(shop, name):
    opened, path = shop
    expected = LISTS[name](opened.ctx)
    opened.close()
    without_blueprints(path)
    with phaseline.open(f"sqlite:///{path}") as anew:
        with pytest.raises(ProblemsError) as found:
            show_deployment(anew.ctx, "shop-1")
        assert [problem.code for problem in found.value.problems] == ["PL-S003"]
        answer = LISTS[name](anew.ctx)
        if name == "status":
            assert (answer.open_count, answer.needs) == (expected.open_count, expected.needs)
        else:
            assert answer == expected


@pytest.mark.parametrize(
    "body", ["'{'", "'{}'", "'[]'", "json_set(body, '$.nodes', 'x')", "replace(body, 'web', 'wob')"]
)
def test_a_deployment_that_cannot_be_read_is_damage_and_no_defect_and_once_forgotten_the_store_is_sound(shop, body):
    opened, path = shop
    opened.close()
    with sqlite3.connect(path) as db:
        db.execute(f"update blueprint set body = {body} where deployment = 1")
    db.close()
    with phaseline.open(f"sqlite:///{path}") as anew:
        for ask in (anew.deployments.show, lambda name: anew.plans.make("uninstall", name), anew.executions.uninstall):
            with pytest.raises(ProblemsError) as found:
                ask("shop-0")
            assert [problem.code for problem in found.value.problems] == ["PL-S003"]
        (finding,) = anew.ctx.app.store.check()
        assert "delete its records: phaseline deployments delete shop-0 --force" in finding.message
        assert anew.deployments.show("shop-1").name == "shop-1"
        anew.deployments.delete("shop-0", force=True)
        assert list(anew.ctx.app.store.check()) == []


def statements(path: Path, look) -> int:
    said: list[str] = []
    with phaseline.open(f"sqlite:///{path}") as opened:
        reader = opened.ctx.store.connections.reader()
        reader.set_trace_callback(said.append)
        look(opened.ctx)
        reader.set_trace_callback(None)
    return len(said)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_asks_as_little_for_many_as_for_few(made, few, name):
    assert statements(made, LISTS[name]) == statements(few, LISTS[name])


def test_an_instance_is_found_by_its_id_among_all_with_one_topology(shop):
    opened, path = shop
    wanted = opened.instances.list(deployment="shop-3").items[1].id
    opened.close()
    with sqlite3.connect(path) as db:
        db.execute(
            "update blueprint set body = '{' where deployment <> (select number from deployment where name = 'shop-3')"
        )
    db.close()
    with phaseline.open(f"sqlite:///{path}") as anew:
        for given in (wanted, wanted[:-1]):
            row, topology, number = find_instance(anew.ctx.store, given, None)
            assert (row.name, topology.ids[number]) == ("shop-3", wanted)


def test_a_plan_that_an_older_version_kept_is_compared_by_what_the_deployment_is(shop):
    opened, path = shop
    assert {view.status for view in list_plans(opened.ctx)} == {"waiting"}
    opened.close()
    with sqlite3.connect(path) as db:
        db.execute("update plan set base = json_remove(base, '$.version')")
        db.execute("update plan set base = json_set(base, '$.blueprint', 'other') where number = 2")
    db.close()
    with phaseline.open(f"sqlite:///{path}") as anew:
        assert [view.status for view in list_plans(anew.ctx)] == ["waiting"] * (COUNT - 2) + ["moved", "waiting"]
        assert show_plan(anew.ctx, "plan-2").view.moved == ("the deployment has another blueprint",)
