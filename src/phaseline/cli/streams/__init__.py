"""Standard output and standard error: Phaseline's own texts, escaped, and output of plugins and other programs."""
