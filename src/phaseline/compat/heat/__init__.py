"""Support for unchanged hook classes that were written for Heat, where Heat is not installed."""
