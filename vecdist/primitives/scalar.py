"""Functions of Python floats that routines share: polynomials, and sums and products without error."""

from __future__ import annotations


def horner(x: float, coefficients: tuple[float, ...]) -> float:
    """A polynomial, the highest coefficient first."""
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


def half(x: float) -> float:
    """The upper half of the digits: as a power of two is exact as a factor, fused operations change nothing."""
    c = x * 134217728.0 if -1e290 < x < 1e290 else 0.0
    return (x + c) - c


def exact_sum(x: float, y: float) -> tuple[float, float]:
    """x + y as rounded, and what that leaves (Knuth 1969)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def exact_product(x: float, y: float) -> tuple[float, float]:
    """x y as rounded, and what that leaves (Dekker 1971)."""
    x_head, y_head = half(x), half(y)
    x_tail, y_tail = x - x_head, y - y_head
    across, lost = exact_sum(x_head * y_tail, x_tail * y_head)
    product, rest = exact_sum(x_head * y_head, across)
    return product, rest + (lost + x_tail * y_tail)
