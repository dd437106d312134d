"""The command line: it reads words, calls one use case and shows the answer. It decides nothing."""
