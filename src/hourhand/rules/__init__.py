"""Rules: pure decisions over plain values; no I/O and no clock."""
