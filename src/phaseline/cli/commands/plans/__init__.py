"""Commands on plans and updates."""
