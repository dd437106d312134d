"""Runs tasks of plugin packages on hosts over SSH and on this machine ([ADR 0026](../../../docs/adr/0026-task-runners.md)).

One primitive carries all: a *line* to a shell on a place. A command lives as long as its line: when that is closed, by
a time-out, a kill, a lost network or the engine's death, what the command has started is ended there.
"""
