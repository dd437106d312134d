"""The write side: one module for each verb."""
