"""What belongs to one process: settings, context, the background engine and its log."""
