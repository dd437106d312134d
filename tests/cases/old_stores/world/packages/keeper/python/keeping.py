"""What the package ``keeper`` does."""

import os
from pathlib import Path

from phaseline import LifecycleHook

WORLD = Path(os.environ["OLD_WORLD"])


def note(what, instance):
    with (WORLD / "calls").open("a") as file:
        file.write(f"{what} {instance}\n")


def hang(item):
    note("hangs", item.instance_id)
    (WORLD / "gate").read_text()
    note("keep", item.instance_id)


def copy(item):
    note("copy", item.instance_id)


class Keeps(LifecycleHook):
    """Notes what it is asked."""

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        note(f"keeps-pre-{action}", stack.name)

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        note(f"keeps-post-{action}", stack.name)
