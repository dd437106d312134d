"""Phase plugins: every form in which they are written is read here, without running any code, into one kind of value.

``source`` reads Python text, ``definitions`` records, ``decorated`` decorators; ``packages`` finds what belongs
together, ``loading`` decides what is in force, ``importing`` imports functions when they are called.
"""
