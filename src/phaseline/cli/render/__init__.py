"""How answers look: as text for people, as one document of JSON for programs."""
