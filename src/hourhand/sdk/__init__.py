"""The SDK: what Python programs use (App, Client, Context); `hourhand` itself offers them by these names."""
