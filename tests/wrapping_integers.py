"""Integers of 64 bits at their ends, and what is true of them as they wrap."""

import numpy as np

LARGEST, SMALLEST = np.iinfo("i8").max, np.iinfo("i8").min
ENDS = np.array([LARGEST, SMALLEST, LARGEST - 1, -1, 0, 7])
CASES = [
    lambda x: x + 1 > x, lambda x: x - 1 < x, lambda x: 2 * x // 2, lambda x: np.abs(-x - x), lambda x: x * x >= 0,
    lambda x: np.maximum(x, -x) - np.minimum(x, -x), lambda x: (x - 5) * 3 + 15,
]  # fmt: skip
