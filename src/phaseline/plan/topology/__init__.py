"""Instances of a deployment: expansion, scaling, modification, difference, revision and adoption."""
