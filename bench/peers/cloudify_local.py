"""cloudify-common in local mode: ``init_env``, ``install``, ``uninstall`` of N instances with nine empty operations.

Run by ``bench.peer`` with the Python of the peer's own environment:
``cloudify_local.py N memory|files``. Prints one line of JSON with the seconds of each part.
"""

import json
import logging
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cloudify.logs
from cloudify.workflows import local

logging.disable(logging.CRITICAL)
cloudify.logs.stdout_event_out = lambda *_a, **_k: None
cloudify.logs.stdout_log_out = lambda *_a, **_k: None

INSTALL = ("precreate", "create", "configure", "start", "poststart")
UNINSTALL = ("prestop", "stop", "delete", "postdelete")
MAPPING = "bench.no_operation.run"


def blueprint(count):
    """One template with ``count`` instances, nine operations mapped, and just the types that the workflows need."""
    filters = {name: {"default": []} for name in ("type_names", "node_ids", "node_instance_ids")}
    workflow = "default_workflows.cloudify.plugins.workflows."
    central = {"executor": "central_deployment_agent", "install": False}
    return {
        "tosca_definitions_version": "cloudify_dsl_1_3",
        "plugins": {"default_workflows": central, "bench": central},
        "node_types": {
            "cloudify.nodes.Root": {
                "interfaces": {
                    "cloudify.interfaces.lifecycle": dict.fromkeys(INSTALL + UNINSTALL, MAPPING),
                    "cloudify.interfaces.validation": {"create": {}, "delete": {}},
                    "cloudify.interfaces.monitoring": {"start": {}, "stop": {}},
                }
            },
            "cloudify.nodes.Compute": {"derived_from": "cloudify.nodes.Root"},
        },
        "relationships": {
            "cloudify.relationships.depends_on": {},
            "cloudify.relationships.connected_to": {"derived_from": "cloudify.relationships.depends_on"},
            "cloudify.relationships.contained_in": {"derived_from": "cloudify.relationships.depends_on"},
        },
        "workflows": {
            "install": {"mapping": workflow + "install", "parameters": filters},
            "uninstall": {
                "mapping": workflow + "uninstall",
                "parameters": dict(filters, ignore_failure={"default": False}),
            },
        },
        "node_templates": {
            "n": {
                "type": "cloudify.nodes.Root",
                "capabilities": {"scalable": {"properties": {"default_instances": count}}},
            }
        },
    }


def main(count, storage):
    """Print the seconds from the call of install to the end of uninstall, and those of ``init_env``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bp", "blueprint.yaml")
        path.parent.mkdir()
        path.write_text(json.dumps(blueprint(count)))
        kept = local.InMemoryStorage() if storage == "memory" else local.FileStorage(str(Path(folder, "st")))
        began = time.perf_counter()
        environment = local.init_env(str(path), name="bench", storage=kept)
        ready = time.perf_counter()
        environment.execute("install", task_retries=0, task_retry_interval=0, task_thread_pool_size=8)
        installed = time.perf_counter()
        environment.execute("uninstall", task_retries=0, task_retry_interval=0, task_thread_pool_size=8)
        ended = time.perf_counter()
        states = {instance["state"] for instance in environment.storage.get_node_instances()}
        if states != {"deleted"}:
            sys.exit(f"not deleted: {states}")
    print(json.dumps({"init": ready - began, "install": installed - ready, "uninstall": ended - installed}))


main(int(sys.argv[1]), sys.argv[2])
