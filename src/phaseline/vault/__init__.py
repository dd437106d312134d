"""Secrets: encrypted in the store, clear only in the memory of the calls that use them, masked in all that is written.

``vault`` stores and supplies secrets, ``envelope`` encrypts, ``master_keys`` finds the master key, ``known_secrets``
masks. ``cryptography`` is imported only when the first secret is used, because most commands use none.
"""
