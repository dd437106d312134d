"""Whether a request may run: parameters, restrictions, claims and availability."""
