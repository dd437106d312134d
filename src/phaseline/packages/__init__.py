"""Plugin packages: files become a checked ``Package``, or a list of all their problems.

``reader.read_package`` is the entry point. A package is a set of YAML files, as in Fuel's formats 1.0.0 to 5.0.0, or in
our own 10.0.0. Every file is checked by forms (``format.value_forms``) that are values, so messages can name what is allowed.
"""
