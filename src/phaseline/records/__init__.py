"""Records: their text and JSON forms, typed access to attributes, a memory of changed attributes, and the expression
language.

``record`` defines records, and the modules of ``formats`` read and write them. Other packages use the language through
``expression``. The parsing library is imported with the first expression and not before.
"""
