"""DBOS with its system database in PostgreSQL: a step for each of nine empty operations of N instances.

Run by ``bench.postgres`` with the Python of the peer's own environment: ``dbos_steps.py N URL``. Prints one line of JSON
with the seconds of both workflows.
"""

import json
import logging
import os
import sys
import time

from dbos import DBOS

OPERATIONS = ("precreate", "create", "configure", "start", "poststart"), ("prestop", "stop", "delete", "postdelete")

logging.disable(logging.CRITICAL)
DBOS(
    config={
        "name": "bench",
        "system_database_url": sys.argv[2],
        "log_level": "CRITICAL",
        "run_admin_server": False,
    }
)


@DBOS.step()
def operation(instance, name):
    """Nothing."""


@DBOS.workflow()
def run(count, names):
    """All operations of all instances, one after another."""
    for instance in range(count):
        for name in names:
            operation(instance, name)


DBOS.launch()
began = time.perf_counter()
for names in OPERATIONS:
    run(int(sys.argv[1]), names)
print(json.dumps({"total": time.perf_counter() - began}), flush=True)
os._exit(0)  # its threads would go on
