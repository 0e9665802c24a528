"""Contracts: what the rooms promise each other, as protocols in prose."""
