"""What an install and an uninstall of ten instances load: each module is a quarter of a million instructions, or more (ADR 0020)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.processes.shells import Shell

LISTED = """
import sys
from phaseline.cli import later, lean, main
ends = lean.end
def told(code):
    with open("modules.txt", "w") as file:
        file.writelines(f"{name}\\n" for name, one in sorted(sys.modules.items()) if type(one) is not later.Later)
    ends(code)
lean.end = told
main.main()
"""
"""The command, which leaves a list of what it has loaded."""
NEVER = frozenset({
    "alembic", "asyncio", "concurrent.futures", "email", "http", "importlib.metadata", "inspect", "ipaddress", "lark", "logging", "numpy._typing",
    "pickle", "platform", "random", "rich", "socket", "subprocess", "tempfile", "tokenize", "traceback", "urllib.request", "cryptography",
})  # fmt: skip
"""What none of both needs; a hundred modules hang on some of them."""
MOST = {"install": 274, "uninstall": 205}
"""How many modules of ours each may load: what is a little more is a decision, what is much more an accident."""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  n: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 10}}}}
"""


def test_small_commands_load_little(tmp_path: Path) -> None:
    environment = Shell(tmp_path).environment
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    for word, words in {"install": ["blueprint.yaml", "-d", "ten"], "uninstall": ["-d", "ten"]}.items():
        subprocess.run(
            [sys.executable, "-c", LISTED, word, *words], cwd=tmp_path, env=environment, check=True, capture_output=True
        )
        loaded = (tmp_path / "modules.txt").read_text().split()
        own = [name for name in loaded if name.startswith("phaseline")]
        assert NEVER & set(loaded) == set(), word
        assert len(own) <= MOST[word], f"{word} loads {len(own)} modules of ours"
