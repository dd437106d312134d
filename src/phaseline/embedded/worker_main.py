"""The program of a worker process, which carries out calls of every kind.

``run.executors.worker_process`` starts it by its module name.
"""

from __future__ import annotations

import sys

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.run.executors.worker_main import main

if __name__ == "__main__":
    main(sys.argv[1:], CallerRegistry(make_caller))
