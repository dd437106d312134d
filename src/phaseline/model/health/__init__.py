"""Results of ``check_status`` and ``check_drift``."""
