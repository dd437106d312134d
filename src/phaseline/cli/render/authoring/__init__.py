"""Renderers of answers for authors of blueprints and plugins."""
