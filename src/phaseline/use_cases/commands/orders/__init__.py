"""Orders with a request id: an order is carried out once and answered each time it is given."""
