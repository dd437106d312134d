"""cloudify-common in local mode: one install of ten nodes whose ``create`` is a shell script.

Run by ``bench.peer`` with the Python of the peer's own environment: ``cloudify_scripts.py BLUEPRINT``.
"""

import logging
import sys
import tempfile

import cloudify.logs
from cloudify.workflows import local

logging.disable(logging.CRITICAL)
cloudify.logs.stdout_event_out = lambda *_a, **_k: None
cloudify.logs.stdout_log_out = lambda *_a, **_k: None


def main(path):
    """Install, and end with an error unless all instances are started."""
    with tempfile.TemporaryDirectory() as folder:
        environment = local.init_env(path, name="bench", storage=local.FileStorage(folder))
        environment.execute("install", task_retries=0, task_retry_interval=0, task_thread_pool_size=8)
        assert {instance["state"] for instance in environment.storage.get_node_instances()} == {"started"}


if __name__ == "__main__":
    main(sys.argv[1])
