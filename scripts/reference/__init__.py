"""The pages of docs/reference that are read off the code: `scripts/generate-reference` writes them."""
