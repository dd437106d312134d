"""What code of plugins raises comes back as a value, whatever it is."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from phaseline.calls.threads.guarded_calls import attempt_async, guarded_call


def interrupt() -> None:
    raise KeyboardInterrupt("the plugin's own")


async def interrupt_later() -> None:
    interrupt()


def test_a_plugin_that_raises_keyboard_interrupt_ends_no_thread_of_the_engine() -> None:
    with ThreadPoolExecutor(1) as threads:
        _, raised = threads.submit(guarded_call, interrupt).result()
        waited = threads.submit(lambda: asyncio.run(attempt_async(interrupt_later()))).result()
    assert isinstance(raised, KeyboardInterrupt)
    assert isinstance(waited, KeyboardInterrupt)


def test_control_c_goes_through_in_the_main_thread() -> None:
    with pytest.raises(KeyboardInterrupt):
        guarded_call(interrupt)


@pytest.mark.parametrize("error", [SystemExit(3), ValueError("no"), GeneratorExit(), asyncio.CancelledError()])
def test_anything_else_comes_back(error: BaseException) -> None:
    def failing() -> None:
        raise error

    assert guarded_call(failing) == (None, error)
