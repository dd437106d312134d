"""Lets hook classes that were written for Heat run unchanged, where Heat is not installed."""
