"""Hook classes: third-party code that is called in a fixed order before and after every action of a deployment.

``lifecycle_hook`` is the base class for users, ``discovery`` finds the classes, ``declaration`` reads their declared
attributes, and ``registry`` sorts them. ``caller`` calls their methods with a context and read-only views, as other
callers call native operations or scripts. When the methods are called is decided elsewhere:
``plan.rounds.pre_post_rounds`` plans the calls as rounds (the Heat document (source 2), ADR 0022, ADR 0024).
"""
