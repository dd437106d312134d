"""Read plugin packages: their files become a checked ``Package``, or a list of all problems.

``reader.read_package`` is the entry point. A package is a set of YAML files in one of Fuel's formats 1.0.0 to 5.0.0 or
in Phaseline's own format 10.0.0. Functions called forms (``format.value_forms``) check each file; a message about a
wrong value names the values that the form allows.
"""
