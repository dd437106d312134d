"""What an install and an uninstall of ten instances, their plan and the lists load: each module is a quarter of a million instructions, or more (ADR 0020)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.processes.shells import Shell

from phaseline.cli.startup import module_finder as own_modules

LISTED = """
import sys
from phaseline.cli.startup import deferred_modules as later; from phaseline.cli.startup import fast_start as lean; from phaseline.cli import main
ends = lean.end
def told(code):
    with open("modules.txt", "w") as file:
        file.writelines(f"{name}\\n" for name, one in sorted(sys.modules.items()) if type(one) is not later.DeferredModule)
    ends(code)
lean.end = told
main.main()
"""
"""The command, which leaves a list of what it has loaded."""
NEVER = frozenset({
    "alembic", "asyncio", "concurrent.futures", "email", "http", "importlib.metadata", "importlib.util", "inspect", "ipaddress", "lark", "logging", "numpy._typing",
    "pickle", "platform", "random", "rich", "socket", "subprocess", "tempfile", "tokenize", "traceback", "urllib.request", "cryptography",
    "phaseline.client.option_types",
})  # fmt: skip
"""What none of them needs; a hundred modules hang on some of them."""
MOST = {
    "--version": 10,
    "--help": 11,
    "install blueprint.yaml -d ten": 273,  # four for the lease and shards (ADR 0047)
    "plan install blueprint.yaml": 192,
    "status": 90,
    "deployments list": 90,
    "executions list": 82,
    "instances list": 82,
    "plans list": 83,
    "uninstall -d ten": 204,
}
"""How many modules of ours each may load: what is a little more is a decision, what is much more an accident."""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  n: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 10}}}}
"""


PLAIN = {f"{parent}.{own}" for parent, names in own_modules.PLAIN.items() for own in names}
"""Packages that are not imported: they cost a fifth of a module."""
ROOMS = (
    "phaseline.engine",
    "phaseline.plan.workflows",
    "phaseline.run.loop.engine",
    "phaseline.dsl.reader",
    "phaseline.catalog",
    "yaml",
)
"""What no list and no status needs."""


def test_small_commands_load_little(tmp_path: Path) -> None:
    environment = Shell(tmp_path).environment
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    for words, most in MOST.items():
        subprocess.run(
            [sys.executable, "-c", LISTED, *words.split()],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
        )
        loaded = (tmp_path / "modules.txt").read_text().split()
        own = [name for name in loaded if name.startswith("phaseline") and name not in PLAIN]
        assert NEVER & set(loaded) == set(), words
        assert len(own) <= most, f"{words} loads {len(own)} modules of ours"
        if words.startswith("--"):
            assert {"dataclasses", "numpy", "pathlib"} & set(loaded) == set(), words
        if words.endswith(("list", "status")):
            assert [name for name in loaded if name.startswith(ROOMS) and name not in PLAIN] == [], words
