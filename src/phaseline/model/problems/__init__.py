"""User errors as values: problems, their codes and their text, and what names may hold."""
