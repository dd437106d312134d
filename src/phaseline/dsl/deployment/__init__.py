"""A blueprint with its inputs, evaluated as far as possible."""
