"""The ancestor's script plugin."""
