"""The command line: it parses arguments, calls one use case and shows the answer.

All decisions are in the use cases.
"""
