"""The write side of many deployments: saved filters and sites."""
