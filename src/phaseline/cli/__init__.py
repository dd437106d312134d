"""The command line: reads words, calls one use case, and shows its answer. It decides nothing."""
