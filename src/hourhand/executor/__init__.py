"""The executor: claims instances, runs them, and reports their outcomes."""
