"""Node templates, relationships, groups, scaling, plugins and the other sections of a blueprint."""
