"""Files of a package: forms, conditions, stages and tasks."""
