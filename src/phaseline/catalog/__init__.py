"""Plugin code: reads the declarations of functions without running them, imports functions when they are called."""
