"""Functions of other libraries that packages of Fuel need, in a process of their own."""
