"""Runs tasks of plugin packages on hosts over SSH and on this machine ([ADR
0026](../../../docs/adr/0026-task-runners.md)).

All tasks use a *line*: the connection to a shell on a host or on this machine. A command runs only while its line is
open: when the line is closed, by a time-out, a kill, a lost network or the end of the engine, all processes that the
command has started on that machine are ended.
"""
