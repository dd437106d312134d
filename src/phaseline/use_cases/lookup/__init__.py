"""Find stored rows by names and ids."""
