"""Policies: small hook classes that come with the product, off until the settings name them.

They use nothing but what the package ``phaseline`` says in public, and so are examples of what a hook class of one's own can
do. A policy is switched on in the settings file, with its options::

    [[hooks.classes]]
    name = "not-too-many"
    class = "phaseline.policies.rules:Rule"
    options = { when = "InstanceCount > 100", effect = "warn" }
"""
