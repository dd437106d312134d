"""Standard output and standard error: Phaseline's own texts, escaped, and foreign output."""
