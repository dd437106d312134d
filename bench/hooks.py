"""What hooks cost that look at a deployment of 10,000 instances: nothing where they look at nothing (source 2, H35)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from bench.figures import Spread
from bench.report import Row
from phaseline.hooks.stack import StackView
from phaseline.model.states import InstanceState
from phaseline.run.subjects import LoadedDeployment
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import deployment

INSTANCES, CLASSES = 10_000, 3
PROPERTIES = {f"field_{number}": {"size": number} if number % 4 == 0 else number for number in range(8)}
MOST_NOTHING_MS, MOST_READING_MS = 1.0, 100.0


class Nothing:
    """A class that looks at nothing."""

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Agrees."""

    def do_post_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None, *failure: Any) -> None:
        """Agrees."""


def made() -> LoadedDeployment:
    """Ten thousand instances with eight properties and a document each."""
    found = topology(blueprint(node("web", instances=INSTANCES, properties=PROPERTIES)))
    documents: Any = {one: {"resource_id": f"vm-{number}"} for number, one in enumerate(found.ids)}
    return deployment(found, documents=documents, state=InstanceState.STARTED)


def nothing_ms(about: LoadedDeployment) -> float:
    """Pre and post of three classes."""
    hooks = [Nothing() for _ in range(CLASSES)]
    start = perf_counter()
    for hook in hooks:
        hook.do_pre_op(None, StackView(about.as_is, "CREATE", "IN_PROGRESS"), None, "CREATE")
    for hook in hooks:
        hook.do_post_op(None, StackView(about.as_is, "CREATE", "COMPLETE"), None, "CREATE")
    return (perf_counter() - start) * 1000


def reading_ms(about: LoadedDeployment) -> float:
    """One class that reads three fields of each instance."""
    start = perf_counter()
    stack = StackView(about.as_is, "CREATE", "IN_PROGRESS")
    for one in stack.resources.values():
        assert one.properties["field_1"] == 1
        assert one.properties["field_4"]["size"] == 4
        assert one.resource_id
    return (perf_counter() - start) * 1000


def rows(count: int) -> list[Row]:
    """Both, ``count`` times."""
    print("hooks over 10,000 instances", flush=True)
    nothing = Spread(tuple(nothing_ms(made()) for _ in range(count)))
    reading = Spread(tuple(reading_ms(made()) for _ in range(count)))
    return [
        Row(
            f"hooks: pre and post of {CLASSES} classes that look at nothing, {INSTANCES:,} instances",
            nothing.text("ms", 3), f"≤ {MOST_NOTHING_MS:g} ms", nothing.median <= MOST_NOTHING_MS,
        ),
        Row(
            f"hooks: a class that reads three fields of each, {INSTANCES:,} instances",
            reading.text("ms", 1), f"≤ {MOST_READING_MS:g} ms", reading.median <= MOST_READING_MS,
        ),
    ]  # fmt: skip
