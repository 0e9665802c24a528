"""Model: the nouns, as frozen dataclasses of the standard library only."""
