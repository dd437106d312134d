"""Whatever people do with a store, `store check` finds it sound after each step, and a backup of it passes its own check."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import phaseline
from phaseline import Phaseline, ProblemsError
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.store.sql.purging.rounds import SqlPurge
from phaseline.store.sqlite.store import SqliteStore
from phaseline.use_cases.commands import maintenance as upkeep

STEPS = 30
NAMES = ("one", "two")
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {made: {executor: central_deployment_agent, install: false}}
node_templates:
  host: {type: cloudify.nodes.Compute, properties: {agent_config: {install_method: none}}}
  app:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: COUNT, max_instances: 9}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: made.made.create, inputs: {x: 1}}
        start: made.made.start
        delete: made.made.create
      cloudify.interfaces.validation: {check_status: made.made.check}
    relationships: [{type: cloudify.relationships.contained_in, target: host}]
EXTRA"""
EXTRA = """\
  more: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.depends_on, target: app}]}
"""
PLUGIN = """\
import random
from pathlib import Path
from phaseline import NonRecoverableError, operation

FAILS = Path(__file__).with_name("fails")
DICE = random.Random(3)

@operation(repeatable=True)
def create(item):
    if FAILS.exists() and DICE.random() < 0.3:
        raise NonRecoverableError("bad luck")
    item.runtime_properties["words"] = {"a": [1, None, "\\u00e4\\x00"], "deep": {"er": DICE.random()}}

@operation(repeatable=True)
def start(item):
    item.runtime_properties.pop("words", None)
    item.log.info("started")

@operation(repeatable=True)
def check(item):
    if FAILS.exists() and DICE.random() < 0.5:
        raise NonRecoverableError("not well")
    item.complete({"load": 0.5})
"""
PHASE = """\
HandlesStates = Allocation
ResourceType = Cloud.Node
PhaseName = Acme.Create
"""
HANDLE = """\
def handle(handler):
    for resource in handler.getResources():
        handler.setComplete(resource)
"""


class Life:
    """Someone's steps with one store, by a seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.dice = folder, random.Random(seed)
        (folder / "plugins").mkdir()
        (folder / "plugins" / "made.py").write_text(PLUGIN)
        (folder / "phases").mkdir()
        (folder / "phases" / "create.cfg").write_text(PHASE)
        (folder / "phases" / "create.py").write_text(HANDLE)
        (folder / "small.yaml").write_text(BLUEPRINT.replace("COUNT", "2").replace("EXTRA", ""))
        (folder / "large.yaml").write_text(BLUEPRINT.replace("COUNT", "4").replace("EXTRA", EXTRA))
        self.copies = 0
        self.said: list[str] = []
        self.shop = self.opened()

    def opened(self) -> Phaseline:
        url = f"sqlite:///{self.folder}/store.db"
        return phaseline.open(
            url,
            plugins=[str(self.folder / "phases")],
            settings={"run.task_retries": "0", "secrets.key_file": str(self.folder / "key")},
            background=False,
        )

    @property
    def name(self) -> str:
        return self.dice.choice(NAMES)

    @property
    def file(self) -> str:
        return str(self.folder / self.dice.choice(["small.yaml", "large.yaml"]))

    @property
    def later(self) -> bool:
        return self.dice.random() < 0.4

    @property
    def execution(self) -> str:
        rows = self.shop.executions.list().items
        return self.dice.choice(rows).id if rows else "none"

    def steps(self) -> Iterator[Callable[[], object]]:
        """What may be done, one after the other."""
        every: list[Callable[[], object]] = [
            lambda: self.shop.executions.install(self.file, self.name, if_busy=self.busy, detach=self.later),
            lambda: self.shop.executions.uninstall(self.name, if_busy=self.busy, detach=self.later),
            lambda: self.run("scale", {"scalable_entity_name": "app", "delta": self.dice.choice([1, -1])}),
            lambda: self.run("check_status", {}),
            lambda: self.run("heal", {}),
            lambda: self.run("restart", {}),
            lambda: self.run("reinstall", {}),
            lambda: self.shop.deployments.update(self.name, self.file, detach=self.later),
            lambda: self.shop.deployments.labels(self.name, add=["team=blue"]),
            lambda: self.shop.deployments.delete(self.name, force=self.later),
            lambda: self.shop.deployments.abandon(self.name, force=self.later, detach=self.later),
            lambda: self.shop.deployments.create(self.file, self.name),
            lambda: self.shop.snapshots.create(self.name, "s", detach=self.later),
            lambda: self.shop.snapshots.restore(self.name, "s", detach=self.later),
            lambda: self.shop.snapshots.delete(self.name, "s", detach=self.later),
            lambda: self.shop.executions.resume(self.execution),
            lambda: self.shop.executions.retry(self.execution, detach=self.later),
            lambda: self.shop.executions.cancel(self.execution),
            lambda: self.shop.executions.purge(0),
            self.retention,
            lambda: self.shop.engine.run(until_idle=True),
            lambda: self.shop.blueprints.upload(self.file, "kept"),
            lambda: self.shop.blueprints.delete(self.dice.choice(["kept", "kept@1"])),
            lambda: self.shop.executions.install("kept", self.name, detach=self.later),
            lambda: self.shop.plans.make("install", self.name),
            lambda: self.shop.plans.update(self.name, self.file),
            lambda: self.shop.plans.apply(self.dice.choice(["plan-1", "plan-2", "plan-3"])),
            lambda: self.shop.resources.apply(records=self.records(), cluster="c"),
            lambda: self.shop.resources.target("Terminated", filter="Size > 1", cluster="c"),
            lambda: self.shop.resources.delete(all=True, cluster="c"),
            lambda: self.shop.resources.cancel(all=True, cluster="c"),
            lambda: (self.shop.phases.pause("Acme.Create"), self.shop.phases.unpause("Acme.Create")),
            lambda: self.shop.secrets.create("word", "xyzzy", update=True),
            lambda: upkeep.compact(self.shop.ctx),
            self.trouble,
            self.put_back,
        ]
        while True:
            yield self.dice.choice(every)

    @property
    def busy(self) -> str:
        return self.dice.choice(["wait", "refuse", "force"])

    def run(self, workflow: str, parameters: dict[str, object]) -> object:
        return self.shop.executions.start(
            workflow, self.name, parameters=parameters, if_busy=self.busy, detach=self.later
        )

    def records(self) -> list[dict[str, object]]:
        return [
            {"AdType": "Cloud.Node", "Name": f"n{number}", "Size": number, "TargetState": "Started"}
            for number in range(self.dice.randrange(1, 5))
        ]

    def trouble(self) -> None:
        fails = self.folder / "plugins" / "fails"
        fails.unlink() if fails.exists() else fails.touch()

    def retention(self) -> None:
        """Retention removes some slices of what is old, and its process dies."""
        before = self.shop.ctx.clock.now() + 1
        rules = PurgeRules(before if self.later else 0, before)
        purging = SqlPurge(self.shop.ctx.app.store._writing, rules, slice_bytes=4_000)
        for _ in range(self.dice.randrange(1, 5)):
            purging.slice()

    def put_back(self) -> None:
        """The store is restored from a backup of itself; then what waits may go on, or not."""
        self.copies += 1
        copy = str(self.folder / f"copy-{self.copies}.db")
        upkeep.backup(self.shop.ctx, copy)
        if self.later:
            upkeep.restore(self.shop.ctx, copy)
            self.shop = self.opened()
        if self.later:
            upkeep.go_on(self.shop.ctx)

    def live(self) -> None:
        """Take steps, and look at the store after each."""
        for number, step in zip(range(STEPS), self.steps(), strict=False):
            try:
                step()
                self.said.append("ok")
            except ProblemsError as error:
                self.said.append(error.problems[0].code)
            assert list(self.shop.ctx.app.store.check()) == [], (number, self.said)
        copy = self.folder / "last.db"
        upkeep.backup(self.shop.ctx, str(copy))
        with closing(SqliteStore.open(copy, self.shop.ctx.clock)) as opened:
            assert list(opened.check()) == []
        self.shop.close()


@pytest.mark.parametrize("seed", range(6))
def test_a_store_is_sound_after_each_step_of_a_random_life(tmp_path: Path, seed: int) -> None:
    life = Life(tmp_path, seed)
    life.live()
    assert life.said.count("ok") > STEPS // 4
