"""What may share a call, and when: queues, shelves for functions, rates."""
