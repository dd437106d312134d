"""Values as bytes and JSON, the same for every database."""
