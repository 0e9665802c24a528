"""A shop: orders, and what is to be done about them."""
