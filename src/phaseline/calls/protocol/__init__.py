"""The interface between executors and plugin code: a call, its channel to the engine, and its reports."""
