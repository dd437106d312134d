"""The protocol of a call: its values, channel and reports."""
