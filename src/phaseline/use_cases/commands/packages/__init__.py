"""Use cases that change plugin packages in the store."""
