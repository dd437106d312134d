"""Use cases that change the store: one module for each verb."""
