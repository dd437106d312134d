"""Hook classes: third-party code that is called in a fixed order before and after every action of a deployment (source 2).

``lifecycle_hook`` is the base class for users, ``discovery`` finds the classes, ``declaration`` reads their declared attributes,
``registry`` puts them into their total order, and ``caller`` calls them, as one flavour of plugin code beside others, with
a context and read-only views. The time of the calls is decided elsewhere: ``plan.rounds.pre_post_rounds`` plans their
calls as rounds (ADR 0022, ADR 0024).
"""
