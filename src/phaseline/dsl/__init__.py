"""Blueprint text to a checked ``Blueprint``: YAML, imports, grammar by version, inheritance, intrinsic functions.

Nothing here opens a file: whoever calls gives a ``Source`` that does.
"""

from phaseline.dsl.deploying import with_inputs
from phaseline.dsl.dump import blueprint_from_json, blueprint_to_json
from phaseline.dsl.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.source import Source

__all__ = ["Source", "blueprint_from_json", "blueprint_to_json", "complete_inputs", "read_blueprint", "with_inputs"]
