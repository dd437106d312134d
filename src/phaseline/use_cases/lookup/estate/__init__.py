"""Lookups of many deployments: filters, families and sites."""
