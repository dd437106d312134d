"""Threads, thread pools and processes; nothing here knows terms such as execution or phase."""
