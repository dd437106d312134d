"""A hook class that is told by its options what to do, and writes down what it was called with."""

import threading
from pathlib import Path

MEETING = threading.Barrier(2)
NEVER = threading.Event()


class Recorder:
    """``log``: the file; ``fails`` {method: text}; ``meets``: its pre waits for that of another execution."""

    timeout = 60

    def __init__(self, name, log, ordinal=100, fails=None, critical=True, hangs="", meets=False, gate="", **told):
        self.name, self.log, self.ordinal, self.fails = name, log, ordinal, fails or {}
        self.critical, self.hangs, self.meets, self.gate = critical, hangs, meets, gate
        for key, value in told.items():
            setattr(self, key, tuple(value) if isinstance(value, list) else value)

    def get_ordinal(self):
        return self.ordinal

    def say(self, *words):
        with Path(self.log).open("a") as file:
            file.write(" ".join(map(str, words)) + "\n")

    def stand(self, method):
        """Where the class has a ``gate``, stand there until it is open: a pipe that somebody writes into."""
        if self.gate == method:
            Path(self.log).with_name("gate").read_text()

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.say("pre", self.name, action, id(self))
        if self.meets:
            MEETING.wait(60)
        if self.hangs == "pre":
            NEVER.wait()
        self.stand("pre")
        if "pre" in self.fails:
            raise ValueError(self.fails["pre"], "and more")

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        self.say("post", self.name, action, is_stack_failure, cnxt.hook.reason, id(self))
        self.stand("post")
        if self.hangs == "post":
            NEVER.wait()
        if "exit" in self.fails:
            raise SystemExit(3)
        if "post" in self.fails:
            raise ValueError(self.fails["post"])


class OnlyPre(Recorder):
    do_post_op = None


class OnlyPost(Recorder):
    do_pre_op = None


class Neither(Recorder):
    do_pre_op = do_post_op = None


class Meddler(Recorder):
    """Changes what it sees through the back door."""

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        import gc

        for found in gc.get_objects():
            if type(found).__name__ == "LoadedDeployment" and found.topology.nodes:
                found.topology.nodes[0].properties["size"] = 7


class Later(Recorder):
    """Refuses in a coroutine, and prints."""

    async def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        print("looking")
        raise ValueError("not now")
