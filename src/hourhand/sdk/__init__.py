"""The SDK: what Python programs touch (App, Client, Context)."""
