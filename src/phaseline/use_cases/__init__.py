"""The use cases of a user, as typed functions over a request context: the layer below the client.

Import the module that you need (``from phaseline.use_cases.commands.install import install``): importing this package
imports no use case.
"""
