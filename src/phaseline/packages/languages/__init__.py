"""Languages of packages that need a limit of time, YAQL and patterns with look-ahead: who answers."""
