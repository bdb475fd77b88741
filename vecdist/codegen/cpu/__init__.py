"""Loop nests as source for the CPU."""
