"""Evaluates YAQL and untrusted patterns, which packages of Fuel may contain, in a process of its own."""
