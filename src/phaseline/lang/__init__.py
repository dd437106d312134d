"""Tools that Python lacks or does too slowly: data classes, array idioms, regular expressions, cycles, did-you-mean.

They know nothing of deployments or phases.
"""
