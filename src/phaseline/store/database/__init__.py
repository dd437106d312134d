"""What all stores on a database share below their statements: the tables and the form of a connection."""
