"""``python -m bench.loading yaml FILE`` or ``read FILE``: the seconds that one reading of a file takes in a process of its own.

``yaml``: PyYAML's CSafeLoader with the cycle collector off, which is as fast as it gets. ``read``: our reader, which
checks and merges as well; a file that is wrong is read until its problems are known with their places.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Read and print."""
    what, file = sys.argv[1:]
    if what == "yaml":
        import yaml

        text = Path(file).read_text("utf-8")
        gc.collect()
        gc.disable()
        began, began_cpu = time.perf_counter(), time.process_time()
        yaml.load(text, Loader=yaml.CSafeLoader)
        print(json.dumps({"seconds": time.perf_counter() - began, "cpu": time.process_time() - began_cpu}))
        return
    from phaseline.catalog.files.blueprint_files import BlueprintFiles
    from phaseline.cli.startup import fast_start as lean
    from phaseline.dsl.reader import read_blueprint
    from phaseline.model.problems.problem import ProblemsError

    lean.begin()  # as a command sets Python up
    began = time.perf_counter()
    found = 0
    try:
        read_blueprint(file, BlueprintFiles(file))
    except ProblemsError as error:
        found = error.problems[0].place.line
    print(json.dumps({"seconds": time.perf_counter() - began, "line": found}))


if __name__ == "__main__":
    main()
