"""Conversion of values to bytes and JSON, as every database stores them."""
