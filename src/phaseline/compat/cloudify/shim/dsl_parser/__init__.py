"""The ancestor's parser, as far as plugins name it: its exceptions (section 15 of the specification of blueprints)."""
