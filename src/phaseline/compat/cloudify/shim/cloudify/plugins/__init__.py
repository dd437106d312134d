"""The built-in workflows' building blocks, as workflow programs import them."""
