"""Turn blueprint text into a checked ``Blueprint``: YAML, imports, grammar by version, inheritance, functions.

Nothing here opens a file: the caller passes a ``FileSource`` that opens files. The entry points are
``reader.read_blueprint``, ``deployment.inputs.complete_inputs``, ``deployment.evaluate_blueprint.with_inputs``, the
functions of ``documents.json_codec``, and ``functions``. This module imports nothing, because an engine that continues
a deployment needs only ``functions``, and no YAML.
"""
