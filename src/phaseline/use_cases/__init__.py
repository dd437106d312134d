"""What a user can do, as typed functions over a workplace: the only thing that the doors call.

Import the module you need (``from phaseline.use_cases.commands.install import install``): nothing is loaded before it is used.
"""
