"""Policies: small hook classes that come with Phaseline and are disabled until the settings name them.

They use only the public names of the package ``phaseline``, so they are examples for your own hook classes. A policy
is enabled in the settings file, with its options::

    [[hooks.classes]]
    name = "not-too-many"
    class = "phaseline.policies.rules:Rule"
    options = { when = "InstanceCount > 100", effect = "warn" }
"""
