"""Commands on blueprints."""
