"""Threads, pools and processes. No domain term."""
