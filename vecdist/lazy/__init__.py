"""Lazy arrays: what a user holds, NumPy's functions of them, and their derivatives."""
