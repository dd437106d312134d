"""Rows of a store, one type each."""
