"""Calls in processes of their own: ten scripts against the peer, functions with a time-out, what a script prints."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench import blueprints, peer
from bench.figures import Spread
from bench.peer import ROOT
from bench.report import Row
from bench.small_work import PROGRAM

SCRIPTS, TIMED, PRINTED_MB = 10, 5_000, 40
PRINTING = f"yes {'x' * 99} | head -c {PRINTED_MB}000000"


def rows(count: int) -> list[Row]:
    """Every row of calls in processes."""
    print("scripts, time-outs and output", flush=True)
    scripts = _of_nodes(SCRIPTS, {"implementation": "run.sh", "executor": "central_deployment_agent"})
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        file = _written(Path(folder), scripts, "echo one")
        theirs = [str(peer.make_ready()), str(peer.SCRIPT.with_name("cloudify_scripts.py")), str(file)]
        pairs = [(_ours(scripts, "echo one")[0], _cost(theirs, {})[0]) for _ in range(count)]
    ours, other = (Spread(tuple(pair[at] for pair in pairs)) for at in (0, 1))
    limited = {"implementation": "bench.bench_native.alone", "timeout": 60}
    quiet = Spread(tuple(_ours(_of_nodes(1, limited))[1] for _ in range(count)))
    timed = Spread(tuple(_ours(_of_nodes(1, limited, instances=TIMED))[1] for _ in range(count)))
    printing = Spread(tuple(_ours(_of_nodes(1, scripts_of(scripts)), PRINTING)[1] for _ in range(count)))
    rate = TIMED / (timed.median - quiet.median)
    speed = PRINTED_MB / (printing.median - quiet.median)
    return [
        Row(f"{SCRIPTS} scripts, processor time", ours.text("s", 2), "≤ the peer", ours.median <= other.median),
        Row(f"{SCRIPTS} scripts, processor time of cloudify-common 7.0.5 local", other.text("s", 2)),
        Row(f"functions with a time-out, {TIMED:,}", f"{rate:,.0f} a second", "≥ 5,000", rate >= 5_000),
        Row(f"a script that prints {PRINTED_MB} MB", f"{speed:.0f} MB/s", "≥ 20 MB/s", speed >= 20),
    ]


def scripts_of(blueprint: dict[str, object]) -> dict[str, object]:
    """The operation that its nodes have."""
    templates = blueprint["node_templates"]
    assert isinstance(templates, dict)
    operation: dict[str, object] = templates["n0"]["interfaces"][blueprints.LIFECYCLE]["create"]
    return operation


def _of_nodes(count: int, operation: dict[str, object], *, instances: int = 1) -> dict[str, object]:
    central = {"executor": "central_deployment_agent", "install": False}
    names = {name: {"default": []} for name in ("type_names", "node_ids", "node_instance_ids")}
    node = {
        "type": "cloudify.nodes.Root",
        "capabilities": {"scalable": {"properties": {"default_instances": instances}}},
        "interfaces": {blueprints.LIFECYCLE: {"create": operation}},
    }
    more = {
        blueprints.VALIDATION: {"create": {}, "delete": {}},
        "cloudify.interfaces.monitoring": {"start": {}, "stop": {}},
    }
    return {
        "tosca_definitions_version": "cloudify_dsl_1_3",
        "plugins": {"default_workflows": central, "script": central, "bench": central},
        "node_types": {
            "cloudify.nodes.Root": {
                "interfaces": {blueprints.LIFECYCLE: {name: {} for name in blueprints.OPERATIONS}, **more}
            },
            "cloudify.nodes.Compute": {"derived_from": "cloudify.nodes.Root"},
        },
        "relationships": {
            blueprints.DEPENDS_ON: {},
            "cloudify.relationships.connected_to": {"derived_from": blueprints.DEPENDS_ON},
            "cloudify.relationships.contained_in": {"derived_from": blueprints.DEPENDS_ON},
        },
        "workflows": {
            "install": {"mapping": "default_workflows.cloudify.plugins.workflows.install", "parameters": names}
        },
        "node_templates": {f"n{number}": node for number in range(count)},
    }


def _written(folder: Path, blueprint: dict[str, object], script: str) -> Path:
    (folder / "run.sh").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "blueprint.yaml").write_text(json.dumps(blueprint))
    return folder / "blueprint.yaml"


def _ours(blueprint: dict[str, object], script: str = "true") -> tuple[float, float]:
    """(processor seconds, seconds) of an install on an empty store."""
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        file = _written(Path(folder), blueprint, script)
        environment = {
            "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'bench' / 'plugins'}",
        }
        return _cost([str(PROGRAM), "install", str(file)], environment)


def _cost(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """(processor seconds, seconds) of a command with all that it starts."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=os.environ | environment, check=True, capture_output=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took
