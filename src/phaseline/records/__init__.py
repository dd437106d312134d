"""Records: their text and JSON forms, typed access with a memory of what was changed, and the expression language.

``record`` is the noun, ``formal``, ``informal`` and ``json_form`` read it, ``printing`` writes it, ``expression`` is the
door to the language. The parsing library is imported with the first expression and not before.
"""
