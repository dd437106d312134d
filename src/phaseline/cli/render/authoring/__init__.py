"""Views for authors as text."""
