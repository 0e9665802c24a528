"""Notifiers: how people are told that something needs them."""
