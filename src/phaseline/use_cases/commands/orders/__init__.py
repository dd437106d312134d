"""Orders with a request id: carried out once, answered as often as they are given."""
