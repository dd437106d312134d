"""The functions of the expression language: one module for each kind of value, one table of all."""
