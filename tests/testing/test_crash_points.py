"""A function is killed at each of its lines and called again."""

import asyncio
import traceback

import pytest

from phaseline import NonRecoverableError, operation, phase
from phaseline.testing import crash_points, fake_batch, fake_item

made: dict[str, str] = {}
doubles: list[str] = []


def cloud(name: str, token: str = "") -> None:
    """Make a machine; a token that was seen before makes nothing."""
    if token and token in made.values():
        return
    if name in made:
        doubles.append(name)
    made[name] = token


def empty() -> None:
    made.clear()
    doubles.clear()


@operation(bulk=True, repeatable=True)
def careful(batch):
    for item in batch:
        cloud(item.instance_id, item.token)
        item.runtime_properties["made"] = True


@operation(bulk=True, repeatable=True)
def careless(batch):
    for item in batch:
        cloud(item.instance_id)
        item.runtime_properties["made"] = True


def test_a_function_that_uses_tokens_makes_nothing_twice_wherever_it_dies() -> None:
    points = 0
    for point in crash_points(careful, lambda: fake_batch(2), before=empty):
        points += 1
        assert not doubles, point
        assert len(made) == 2
        assert [done.outcome for done in point.outcomes] == ["completed", "completed"]
    assert points > 2 * 3, "each line of the loop for each item, and the return"


def test_a_function_without_tokens_is_found_out() -> None:
    assert any(list(doubles) for _ in crash_points(careless, lambda: fake_batch(2), before=empty))


def test_each_point_says_before_which_line_the_function_died() -> None:
    first = careful.__code__.co_firstlineno
    lines = [point.line - first for point in crash_points(careful, lambda: fake_batch(1), before=empty)]
    assert [line for line in lines if line > 0] == [2, 3, 4, 2, 2]
    assert len(lines) > 5, "lines of other functions of the file are crash points, too"


def test_a_function_that_is_expected_to_fail_has_points_up_to_there() -> None:
    @operation
    def broken(item):
        item.log.info("begun")
        raise ValueError("odd")

    found = list(crash_points(broken, lambda: fake_batch(1)[0], expected=ValueError))
    assert {point.outcomes[0].message for point in found} == {"odd"}


@operation
def mistaken(item):
    item.log.info("begun")
    item.no_such_method()


@phase(name="Acme.Mistaken", states="Allocation", resource_type="Cloud.Node")
def mistaken_phase(handler):
    handler.set_compleeted(handler.resources)


async def mistaken_each(resource, data):
    assert resource.node == data


def mistaken_ctx(ctx, **inputs):
    ctx.no_such_attribute.use(inputs)


EACH = phase(name="Acme.Each", states="Allocation", resource_type="Cloud.Node")(mistaken_each)


@pytest.mark.parametrize("function", [mistaken, mistaken_phase, EACH, mistaken_ctx])
def test_what_a_function_raises_by_mistake_comes_out_with_the_line_of_its_death(function) -> None:
    with pytest.raises(AttributeError) as raised:
        list(crash_points(function, lambda: fake_batch(2)))
    assert raised.value.__notes__[0].startswith("called again after dying at line ")
    assert any(frame.name.startswith("mistaken") for frame in traceback.extract_tb(raised.value.__traceback__))


def test_a_failure_that_is_said_so_is_an_outcome() -> None:
    @operation
    def refused(item):
        raise NonRecoverableError("no quota")

    found = list(crash_points(refused, lambda: fake_batch(1)))
    assert {point.outcomes[0].outcome for point in found} == {"failed"}


def test_operations_of_single_items_and_functions_with_ctx_die_for_each_item() -> None:
    @operation(repeatable=True)
    def each(item):
        cloud(item.instance_id, item.token)

    def with_ctx(ctx):
        cloud(ctx.instance.id, "token")

    for function in (each, with_ctx):
        points = list(crash_points(function, lambda: fake_batch(2), before=empty))
        assert len([point for point in points if point.line > function.__code__.co_firstlineno]) >= 4
        assert all(len(point.outcomes) == 2 for point in points)


@phase(name="Acme.Create", states="Allocation", resource_type="Cloud.Node", sleep_delay=7)
def create(handler):
    for node in handler.resources:
        data = handler.get_resource_phase_data(node)
        if "Machine" not in data:
            cloud(node["Name"], handler.operation_token(node))
            data["Machine"] = node["Name"]
            handler.save(node)
        handler.set_completed(node)


@phase(name="Acme.Twice", states="Allocation", resource_type="Cloud.Node")
def create_twice(handler):
    for node in handler.resources:
        cloud(node["Name"])
        handler.set_completed(node)


@phase(name="Acme.Boot", states="Allocation", resource_type="Cloud.Node")
async def boot(resource, data):
    await asyncio.sleep(0)
    cloud(resource["Name"], resource["Name"])
    data["Booted"] = True


def test_a_phase_that_uses_tokens_makes_nothing_twice_wherever_it_dies() -> None:
    points = list(crash_points(create, lambda: fake_batch(2, node="vm"), before=empty))
    first = create.__code__.co_firstlineno
    assert {point.line - first for point in points} >= set(range(2, 9)), "each line of it is a crash point"
    for _ in crash_points(create, lambda: fake_batch(2, node="vm"), before=empty):
        assert not doubles
        assert len(made) == 2
    assert [one.outcome for one in points[-1].outcomes] == ["completed", "completed"]
    assert points[-1].outcomes[0].phase_data["Machine"] == "vm_1"


def test_a_phase_without_tokens_is_found_out() -> None:
    assert any(list(doubles) for _ in crash_points(create_twice, lambda: fake_batch(2), before=empty))


def test_what_a_phase_saved_before_it_died_is_there_in_the_next_call() -> None:
    calls: list[str] = []

    @phase(name="Acme.Save", states="Allocation", resource_type="Cloud.Node")
    def save(handler):
        (node,) = handler.resources
        if "Asked" not in node:
            calls.append("asked")
            node["Asked"] = True
            handler.save()
        handler.set_completed(node)

    points = [(point.line, len(calls)) for point in crash_points(save, fake_item, before=calls.clear)]
    last = max(line for line, _ in points)
    assert {count for line, count in points if line == last} == {1}
    assert 2 in {count for _, count in points}, "between the request and the save it is asked twice"


def test_what_ctx_wrote_and_nobody_waited_for_is_not_counted_on() -> None:
    found: list[bool] = []

    def create(ctx):
        found.append("asked" in ctx.instance.runtime_properties)
        ctx.instance.runtime_properties["asked"] = True
        ctx.instance.update()
        ctx.logger.info("asked")

    assert [found[-1] for _ in crash_points(create, fake_item)].count(False) > 4
    assert not any(found)


def test_an_async_phase_for_single_resources_has_its_lines_and_its_end() -> None:
    points = list(crash_points(boot, lambda: fake_batch(2), before=empty))
    first = boot.__code__.co_firstlineno
    assert {point.line - first for point in points} >= {2, 3, 4}
    assert [one.outcome for one in points[-1].outcomes] == ["completed", "completed"]


def test_neither_finally_nor_except_runs_when_the_process_dies() -> None:
    @operation
    def tidy(item):
        try:
            cloud("one")
        except BaseException:
            empty()
            raise
        finally:
            empty()

    first = tidy.__code__.co_firstlineno
    lines = [point.line - first for point in crash_points(tidy, fake_item, before=empty)]
    assert lines[:2] == [2, 3]
    assert 5 not in lines, "a death is caught by nobody"


def test_what_has_no_lines_is_refused() -> None:
    with pytest.raises(TypeError, match="no lines"):
        next(crash_points(print, fake_item))
