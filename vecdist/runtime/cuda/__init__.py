"""Kernels of CUDA: compiled by Numba and linked, launched by CuPy."""
