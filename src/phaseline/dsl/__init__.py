"""Blueprint text to a checked ``Blueprint``: YAML, imports, grammar by version, inheritance, intrinsic functions.

Nothing here opens a file: whoever calls gives a ``FileSource`` that does. What others call is ``reader.read_blueprint``,
``inputs.complete_inputs``, ``deploying.with_inputs``, the two functions of ``dump``, and ``functions``; nothing is imported
here, because an engine that goes on with a deployment needs the functions alone, and no YAML.
"""
