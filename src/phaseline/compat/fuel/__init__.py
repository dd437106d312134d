"""What packages of Fuel need of other libraries, in a process of its own."""
