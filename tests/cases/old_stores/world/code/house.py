"""Hook classes of the house."""

import os
from pathlib import Path

from phaseline import LifecycleHook

WORLD = Path(os.environ["OLD_WORLD"])


def note(what, name):
    with (WORLD / "calls").open("a") as file:
        file.write(f"{what} {name}\n")


class Decides(LifecycleHook):
    """Decides something for each instance, and notes what it is asked."""

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        note(f"decides-pre-{action}", stack.name)
        for name in stack.resources:
            cnxt.decide(name, {"rack": "r1"})

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        note(f"decides-post-{action}", stack.name)


class Hangs(LifecycleHook):
    """Never comes back for ``hooked`` while the store is made."""

    timeout = 86_400

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if stack.name == "hooked":
            note("hangs", stack.name)
            (WORLD / "gate").read_text()


class Off(LifecycleHook):
    """Would refuse everything, and is switched off."""

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        raise ValueError("it was to be switched off")
