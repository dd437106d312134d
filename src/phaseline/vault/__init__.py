"""Secrets: encrypted in the store, clear only in the memory of those that use them, masked in everything that is written.

``vault`` opens and keeps them, ``envelope`` encrypts, ``master_keys`` finds the key, ``known_values`` masks.
``cryptography`` is imported when the first secret is used, and not before: most commands use none.
"""
