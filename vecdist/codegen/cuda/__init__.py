"""Loop nests as source for CUDA."""
