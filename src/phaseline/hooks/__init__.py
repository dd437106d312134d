"""Hook classes: ordered code of others that is called before and after every action of a deployment (source 2).

``lifecycle_hook`` is the base class that people derive from, ``entries`` finds the classes, ``reading`` asks each what it says of
itself, ``registry`` puts them into their total order, and ``caller`` calls them, as one flavour of plugin code beside others, with
what ``seen`` shows them: a context and views that are only read. When they are called is no affair of this room: ``plan.rounds.pre_post_rounds`` lays their calls as rounds (ADR 0022, ADR 0024).
"""
