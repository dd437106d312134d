"""Make a store of an earlier schema with the program of its time: ``python -m tests.processes.make_old_stores SCHEMA PYTHON``.

``tests/cases/old_stores/README.md`` says which commit and which Python of which environment.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.store.old_stores import DATA, KEY

NAMED = "PHASELINE_PLUGINS_PATH"
PATIENCE_S = 120


class Maker:
    """Commands of one old program over one store."""

    def __init__(self, schema: int, python: str) -> None:
        """In an empty folder that has no name of this machine in it."""
        self.schema, self.python = schema, python
        self.world = Path(f"/tmp/phaseline-v{schema}")
        shutil.rmtree(self.world, ignore_errors=True)
        shutil.copytree(DATA / "world", self.world)
        os.mkfifo(self.world / "gate")
        if schema < 4:  # knows no groups
            blueprint = self.world / "shop/blueprint.yaml"
            text = blueprint.read_text()
            blueprint.write_text(text[: text.index("groups:")] + text[text.index("outputs:") :])
        if schema >= 5:
            (self.world / "hooks.toml").rename(self.world / "phaseline.toml")

    def environment(self, user: str) -> dict[str, str]:
        """Nothing of the user who runs this."""
        own = {
            "OLD_WORLD": str(self.world),
            "HOME": str(self.world),
            "PATH": os.environ["PATH"],
            "LOGNAME": user,
            "PHASELINE_STORE_URL": f"sqlite:///{self.world}/store.db",
            "PHASELINE_LOG_FILE": "none",
            NAMED: ":".join(str(self.world / name) for name in ("code", "phases")),
        }
        return {**own, "PHASELINE_SECRETS_KEY": KEY} if self.schema >= 4 else own

    def say(self, *words: str, user: str = "ann", codes: tuple[int, ...] = (0,)) -> Any:
        """The document that a command answers."""
        line = [self.python, "-m", "phaseline", *words, "--json"]
        done = subprocess.run(
            line, cwd=self.world, env=self.environment(user), capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode not in codes:
            raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def engine(self) -> subprocess.Popen[bytes]:
        """One that serves until it is killed."""
        engine = subprocess.Popen(
            [self.python, "-m", "phaseline", "engine", "run"],
            cwd=self.world,
            env=self.environment("ann"),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert engine.stderr is not None
        while line := engine.stderr.readline():
            sys.stderr.buffer.write(line)
            if b"The engine runs" in line:
                return engine
        raise SystemExit("the engine has ended")

    def ask(self, statement: str) -> Any:
        """The first value that the store answers."""
        with closing(sqlite3.connect(self.world / "store.db")) as db:
            return db.execute(statement).fetchone()[0]

    @property
    def calls(self) -> list[str]:
        """What has been called so far."""
        path = self.world / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def until(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait for it."""
        last = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > last:
                raise SystemExit(f"in vain: {what}\n{self.calls}")
            time.sleep(0.1)

    def called(self, line: str, count: int) -> None:
        """Wait until so many calls begin with this."""
        self.until(line, lambda: sum(call.startswith(line) for call in self.calls) >= count)


def make(maker: Maker) -> None:
    """Fill the store, kill its engine, and take it away."""
    engine = maker.engine()
    try:
        fill(maker)
    finally:
        os.killpg(engine.pid, signal.SIGKILL)
        engine.wait()
    save(maker)


def fill(maker: Maker) -> None:
    """Until all that can happen has happened."""
    if maker.schema >= 5:
        maker.say("hooks", "disable", "off", "--reason", "in the way")
    calm = (old, secrets, kept, stopped)
    for fill_one in calm:
        fill_one(maker)
    hanging = [*resources(maker), *packages(maker), *troubled(maker)]
    for line, count in hanging:
        maker.called(line, count)
    _settle(maker)


CALM = ("shop/blueprint.yaml", "-i", "troubled=false", "-d")


def old(maker: Maker) -> None:
    """One deployment is installed, from schema 7 on by an order with a request id."""
    order = ("--request-id", "first") if maker.schema >= 7 else ()
    maker.say(*order, "install", *CALM, "old")


def troubled(maker: Maker) -> list[tuple[str, int]]:
    """One is half way, and something waits for that."""
    maker.say("install", "shop/blueprint.yaml", "-d", "shop", "--detach")
    backup = ("executions", "start", "execute_operation", "-d", "shop", "-p", "operation=house.backup", "--detach")
    maker.say(*backup, codes=(0, 1))
    return [("hangs hanging_", 2), ("hangs careful_", 2), ("order polled_", 2), ("fails flaky_", 1)]


def secrets(maker: Maker) -> None:
    """From schema 4 on: a stored blueprint in use, and a secret."""
    if maker.schema < 4:
        return
    maker.say("secrets", "create", "token", "--value", "correct-horse-battery")
    maker.say("blueprints", "upload", "shop", "shop")
    maker.say("blueprints", "upload", "shop", "unused")
    maker.say("install", "shop@1", "-d", "stored", "-i", "{password: {get_secret: token}, troubled: false}")


def resources(maker: Maker) -> list[tuple[str, int]]:
    """From schema 3 on: resources in phases."""
    if maker.schema < 3:
        return []
    watched = ("--break", "pre-Old.Configure=node-watched") if maker.schema >= 5 else ()
    maker.say("resources", "apply", "nodes.rec", "-d", "night", *watched)
    return [("hangs node-hanging", 1), ("order node-polled", 1), ("fails node-failed", 1), ("configure node-plain", 1)]


def kept(maker: Maker) -> None:
    """From schema 5 on: labels, checks, snapshots, plans, what was abandoned."""
    if maker.schema < 5:
        return
    maker.say("breakpoints", "add", "pre-delete=last", "-d", "old")
    maker.say("deployments", "labels", "old", "--add", "team=red")
    maker.say("check", "-d", "old", codes=(0, 1))
    maker.say("snapshots", "create", "-d", "old", "monday")
    maker.say("plan", "uninstall", "-d", "old", "--save")
    maker.say("deployments", "create", *CALM, "planned")
    maker.say("plan", "install", "-d", "planned", "--save")
    maker.say("install", *CALM, "gone")
    maker.say("abandon", "-d", "gone")


def stopped(maker: Maker) -> None:
    """From schema 5 on: what stands at breakpoints, one in a deployment whose shape changes, and waits for an approval."""
    if maker.schema < 5:
        return
    maker.say("install", *CALM, "grown")
    scale = ("executions", "start", "scale", "-d", "grown", "-p", "scalable_entity_name=pair")
    maker.say(*scale, "--break", "pre-create=plain", "--detach")
    maker.say("install", *CALM, "stopped", "--break", "pre-start=plain", "--detach")
    maker.say("install", *CALM, "asked", "--detach", "--label", "team=blue")
    maker.until("a plan", lambda: "waits for approval" in json.dumps(maker.say("executions", "logs", "-d", "asked")))
    maker.say("executions", "approve", "-d", "asked", user="bob", codes=(0, 1))


def packages(maker: Maker) -> list[tuple[str, int]]:
    """From schema 5 on: tasks of packages, in the middle, and a hook that hangs."""
    if maker.schema < 5:
        return []
    for name in ("guard", "keeper"):
        maker.say("plugins", "install", f"packages/{name}")
        maker.say("deployments", "create", *CALM, f"with-{name}", "--label", "team=red")
        maker.say("deployments", "plugins", "enable", f"with-{name}", name)
        maker.say("executions", "start", "install", "-d", f"with-{name}", "--detach")
    maker.say("install", *CALM, "hooked", "--detach")
    return [("hangs plain_", 4), ("hangs hooked", 1)]


def _settle(maker: Maker) -> None:
    """Until nothing has changed for two seconds."""
    before = None
    while (now := (maker.calls, maker.ask("select count(*) from event"))) != before:
        before = now
        time.sleep(2)


def save(maker: Maker) -> None:
    """Write the store without free pages, compressed, and the calls that were made."""
    out = maker.world / "packed.db"
    with closing(sqlite3.connect(maker.world / "store.db")) as db:
        db.execute("vacuum into ?", (str(out),))
    name = f"store-v{maker.schema}"
    packed = lzma.compress(out.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (DATA / f"{name}.db.xz").write_bytes(packed)
    (DATA / f"{name}.calls").write_text("".join(f"{call}\n" for call in maker.calls))
    sys.stdout.write(f"{name}: {out.stat().st_size:,} bytes, {len(packed):,} compressed\n")


if __name__ == "__main__":
    make(Maker(int(sys.argv[1]), sys.argv[2]))
