"""Plugin packages: files become a checked ``Package``, or all that is wrong with them.

``reading.read_package`` is the door. A package is a set of YAML files, the same as Fuel had them in its formats 1.0.0 to
5.0.0, and our own 10.0.0. Every file is checked by forms (``forms``) that are values, so that what is allowed can be told.
"""
