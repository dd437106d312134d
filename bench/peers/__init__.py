"""The same work done by another orchestrator, in an environment of its own (made by ``bench.peer``)."""
