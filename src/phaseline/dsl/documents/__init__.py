"""Merged blueprints as documents: JSON, merged plan, provenance and differences."""
