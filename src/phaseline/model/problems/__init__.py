"""User errors as values: problems, their codes and texts, and the rules for names."""
