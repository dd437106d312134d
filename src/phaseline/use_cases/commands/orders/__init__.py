"""Orders with a request id: carried out once, answered each time they are given."""
