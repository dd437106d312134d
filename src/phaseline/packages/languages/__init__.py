"""Languages of packages that need a time limit: YAQL and patterns with look-ahead."""
