"""Our figures, the floor of the machine and the peer, measured in one run: ``python -m bench [NAME ...]``.

``one`` does one install and uninstall in a process of its own and prints its laps; ``floor`` does the least that
durable bookkeeping of the same work can cost; ``peers/`` does the same work with another orchestrator; ``report``
turns all of it into a table and ``docs/benchmarks.md``.
"""
