"""Plugins that fork: the copy of the process ends with the call that made it, and nothing is called twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint, plugin

from phaseline.model.graph.status import OutcomeKind
from phaseline.run.executors.local_executor import Slots
from phaseline.testing.builders import node

COMMON = """
import multiprocessing, os, sys, time
from pathlib import Path
from phaseline import operation

CALLS = Path(__file__).with_name("calls")
MOST_S = 20


def note(name):
    with CALLS.open("a") as file:
        file.write(f"{name}\\n")


def status_of(pid):
    until = time.monotonic() + MOST_S
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "it goes on"
"""
ENDS = {
    "returns": ("return None", 0),
    "leaves": ("sys.exit(3)", 3),
    "says why": ("sys.exit('why')", 1),
    "raises": ("raise ValueError('in the copy')", 1),
    "logs and prints": ("ctx.logger.info('said'); print('printed'); return None", 0),
}
FUNCTION = """
def create(ctx, **_):
    note(ctx.instance.id)
    pid = os.fork()
    if pid == 0:
        {end}
    ctx.instance.runtime_properties["status"] = status_of(pid)
"""
BULK = """
@operation(bulk=True)
def create(batch):
    note("batch")
    pid = os.fork()
    if pid == 0:
        return
    status = status_of(pid)
    for item in batch:
        item.runtime_properties["status"] = status
"""
ASYNC = """
@operation
async def create(item):
    note(item.instance_id)
    pid = os.fork()
    if pid == 0:
        return
    item.runtime_properties["status"] = status_of(pid)
"""
MULTIPROCESSING = """
def work(ctx):
    ctx.logger.info("from a process")
    sys.exit(4)


def create(ctx, **_):
    note(ctx.instance.id)
    process = multiprocessing.get_context("fork").Process(target=work, args=(ctx,))
    process.start()
    process.join(MOST_S)
    ctx.instance.runtime_properties["status"] = process.exitcode
"""
Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[World] = []

    def build(text: str, *, form: str = "each", pool: str = "threads") -> World:
        plugin(tmp_path, COMMON + text)
        blueprint = make_blueprint(node("vm", create="cloud.create", instances=4))
        policy = Policy(LaneSpec(CREATE, form, pool))
        made.append(World(tmp_path, blueprint, policy=policy, slots=Slots(threads=2, workers=2)))
        return made[-1]

    yield build
    for world in made:
        world.close()


def noted(folder: Path) -> list[str]:
    return sorted((folder / "plugins" / "calls").read_text().split())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("pool", ["threads", "workers"])
@pytest.mark.parametrize("end", ENDS)
def test_a_copy_that_a_function_forks_ends_with_it(make: Make, tmp_path: Path, pool: str, end: str) -> None:
    code, status = ENDS[end]
    world = make(FUNCTION.format(end=code), pool=pool)
    answer = world.run(0, 1, 2, 3)
    assert set(answer.kinds.values()) == {OutcomeKind.COMPLETED}, answer.remarks
    assert [change.written for change in answer.documents] == [{("status",): status}] * 4
    assert noted(tmp_path) == ["vm_1", "vm_2", "vm_3", "vm_4"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_that_a_bulk_function_forks_ends_with_it(make: Make, tmp_path: Path) -> None:
    world = make(BULK, form="bulk")
    answer = world.run(0, 1, 2, 3)
    assert {change.written["status",] for change in answer.documents} == {0}, answer.remarks
    assert noted(tmp_path) == ["batch"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_that_a_coroutine_forks_ends_with_it(make: Make, tmp_path: Path) -> None:
    answer = make(ASYNC).run(0, 1, 2, 3)
    assert [change.written for change in answer.documents] == [{("status",): 0}] * 4, answer.remarks
    assert len(noted(tmp_path)) == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("pool", ["threads", "workers"])
def test_multiprocessing_works_in_a_call(make: Make, tmp_path: Path, pool: str) -> None:
    # One at a time: a process that is forked while another thread imports something may wait for it for ever, in any program.
    answer = make(MULTIPROCESSING, pool=pool).run(0)
    assert [change.written for change in answer.documents] == [{("status",): 4}], answer.remarks
    assert noted(tmp_path) == ["vm_1"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_copy_that_a_python_script_forks_ends_with_it(tmp_path: Path) -> None:
    from tests.compat.cloudify.builders import node_call, said, stored

    from phaseline.compat.cloudify.callers import ScriptCaller

    (tmp_path / "fork.py").write_text(
        "import os, sys\nfrom cloudify import ctx\npid = os.fork()\nif pid == 0:\n    sys.exit(5)\n"
        "ctx.instance.runtime_properties['status'] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
    )
    call = node_call(form="script", implementation="fork.py", folder=tmp_path)
    own = os.getpid()
    assert ScriptCaller().call(call).kind is OutcomeKind.COMPLETED, said(call).texts
    assert (os.getpid(), stored(call.instance)) == (own, {"status": 5})
