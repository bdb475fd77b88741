"""Kernels of the CPU: compiled by Numba, shared among threads."""
