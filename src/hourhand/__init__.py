"""Hourhand decides when work is due and gets it done on the right machine."""

__version__ = "0.1.0.dev0"
