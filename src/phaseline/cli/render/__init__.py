"""Renderers of answers: text for people, one JSON document for programs."""
