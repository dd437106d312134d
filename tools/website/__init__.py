"""What makes the documentation site out of the pages of the repository: ``make site``."""
