"""Turn blueprint text into a checked ``Blueprint``: YAML, imports, grammar by version, inheritance, functions.

Nothing here opens a file: the caller passes a ``FileSource`` that does. The entry points are ``reader.read_blueprint``,
``inputs.complete_inputs``, ``evaluate_blueprint.with_inputs``, the functions of ``documents.json_codec``, and
``functions``. Nothing is imported here, because an engine that continues a deployment needs only the functions, and no
YAML.
"""
