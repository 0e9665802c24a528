"""The REST API: what programs touch over HTTP."""
