"""The process: settings, its context, the background engine and its log."""
