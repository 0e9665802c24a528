"""Runners: how each type of task is executed."""
