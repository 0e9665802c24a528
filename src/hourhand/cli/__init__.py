"""The CLI: what people touch in a terminal."""
