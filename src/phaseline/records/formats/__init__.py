"""Text and JSON forms of records."""
