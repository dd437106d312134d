"""Standard output and standard error: what we write there, escaped, and what others write there."""
