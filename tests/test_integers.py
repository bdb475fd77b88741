"""Integers at their ends: what they wrap to, quotients and shifts, as NumPy has them."""

import numpy as np
import pytest
from wrapping_integers import CASES, ENDS

from vecdist import lazy

OPERATIONS = {
    "quotient": lambda x, y, _: x // y, "remainder": lambda x, y, _: x % y, "square": lambda x, *_: np.square(x),
    "size": lambda x, *_: np.abs(x), "negative": lambda x, *_: -x, "cube": lambda x, *_: x**3,
    "left": lambda x, _, by: np.left_shift(x, by), "right": lambda x, _, by: np.right_shift(x, by),
    "sizes": lambda x, y, _: np.abs(x) - np.abs(y), "sign": lambda x, y, _: x * y < 0, "sum": lambda x, *_: x.sum(),
}  # fmt: skip


@pytest.mark.usefixtures("execution")
def test_integers_wrap_wherever_they_are_compared():
    """No compiler may take it that they do not: ``x + 1 > x`` is false of the largest one."""
    with np.errstate(all="ignore"):
        for number, case in enumerate(CASES):
            assert np.asarray(case(lazy(ENDS))).tolist() == case(ENDS).tolist(), number


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_operations_at_the_ends(dtype):
    """The smallest integer by minus one is itself, and by zero nothing; shifts may be longer than the integer."""
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    one = -1 if info.min else 1
    ends = np.array([info.min, info.max, info.min + 1, 0, 5, info.max - 1, one], dtype)
    x, y = (ends[rng.integers(0, len(ends), 40)] for _ in range(2))
    x[0], y[0] = info.min, one
    by = np.array([1, 7, 15, 31, 63, 64, 70, 127], dtype)[np.arange(40) % 8]
    with np.errstate(all="ignore"):
        for name, operation in OPERATIONS.items():
            wanted, found = operation(x, y, by), np.asarray(operation(*map(lazy, (x, y, by))))
            assert found.dtype == wanted.dtype, name
            np.testing.assert_array_equal(found, wanted, err_msg=name)
