"""The scheduler: turns due instants into instances."""
