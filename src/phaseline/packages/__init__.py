"""Read plugin packages: their files become a checked ``Package``, or a list of all problems.

``reader.read_package`` is the entry point. A package is a set of YAML files in one of Fuel's formats 1.0.0 to 5.0.0 or
in Phaseline's own format 10.0.0. Each file is checked by forms (``format.value_forms``), from which messages name the
allowed values.
"""
