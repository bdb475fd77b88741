"""Factors, solutions and inverses of small matrices, of as many at once as a vector has lanes, as loops.

Plain Python in the words of ``vectors.py``, which ``frontend.py`` reads.  A triangle lies by rows that end at the
diagonal.  Golub and Van Loan (2013), Matrix Computations, fourth edition, sections 3.1 and 4.2.
"""

# ruff: noqa: ANN001, ANN201
# pyright: reportUndefinedVariable=false

from __future__ import annotations

from typing import Any

LANES = 0  # in the code, how many matrices are side by side
ROWS = TRIANGLE = 0  # and the elements of a row and of a triangle, at most
gathered: Any = None
scattered: Any = None
root: Any = None
inverted: Any = None
spoilt: Any = None
nothing: Any = None
room: Any = None


def taken(array, start, apart, rows, t, r):
    """Read triangles, and the inverses of their diagonals; what is NaN where one has a zero there."""
    lost, own = nothing(array), 0
    for i in range(rows):
        for j in range(i + 1):
            t[own + j] = gathered(array, start + i * rows + j, apart)
        r[i] = inverted(t[own + i])
        lost = lost + spoilt(r[i])
        own = own + i + 1
    return lost


def factor(first, last, a, found, rows, many):
    """L of A = L L', of which the lower triangle is read; NaN where there is none."""
    t, r, size = room(a, TRIANGLE), room(a, ROWS), rows * rows
    for tile in range(first, last):
        start = min(tile * LANES, many - LANES) * size
        lost, own = nothing(a), 0
        for i in range(rows):
            other, rest = 0, gathered(a, start + i * rows + i, size)
            for j in range(i):
                s = gathered(a, start + i * rows + j, size)
                for k in range(j):
                    s = s - t[own + k] * t[other + k]
                s = s * r[j]
                t[own + j] = s
                rest = rest - s * s
                other = other + j + 1
            s = root(rest)
            t[own + i] = s
            r[i] = inverted(s)
            lost = lost + spoilt(s)
            own = own + i + 1
        own = 0
        for i in range(rows):
            for j in range(i + 1):
                scattered(found, start + i * rows + j, size, t[own + j] + lost)
            for j in range(i + 1, rows):
                scattered(found, start + i * rows + j, size, lost)
            own = own + i + 1


def lower(first, last, factors, b, found, rows, many, columns):
    """L^-1 B."""
    t, r, x = room(b, TRIANGLE), room(b, ROWS), room(b, ROWS)
    size, wide = rows * rows, rows * columns
    for tile in range(first, last):
        place = min(tile * LANES, many - LANES)
        lost = taken(factors, place * size, size, rows, t, r)
        for column in range(columns):
            start, own = place * wide + column, 0
            for i in range(rows):
                s = gathered(b, start + i * columns, wide) + lost
                for k in range(i):
                    s = s - t[own + k] * x[k]
                x[i] = s * r[i]
                scattered(found, start + i * columns, wide, x[i])
                own = own + i + 1


def upper(first, last, factors, b, found, rows, many, columns):
    """L'^-1 B."""
    t, r, x = room(b, TRIANGLE), room(b, ROWS), room(b, ROWS)
    size, wide = rows * rows, rows * columns
    for tile in range(first, last):
        place = min(tile * LANES, many - LANES)
        lost = taken(factors, place * size, size, rows, t, r)
        for column in range(columns):
            start = place * wide + column
            for i in range(rows - 1, -1, -1):
                s, own = gathered(b, start + i * columns, wide) + lost, (i + 1) * (i + 2) // 2 + i
                for k in range(i + 1, rows):
                    s = s - t[own] * x[k]
                    own = own + k + 1
                x[i] = s * r[i]
                scattered(found, start + i * columns, wide, x[i])


def inverse(first, last, factors, found, rows, many):
    """(L L')^-1, the product of L'^-1 and L^-1."""
    t, m, r, size = room(factors, TRIANGLE), room(factors, TRIANGLE), room(factors, ROWS), rows * rows
    for tile in range(first, last):
        start = min(tile * LANES, many - LANES) * size
        lost = taken(factors, start, size, rows, t, r)
        for j in range(rows):
            m[j * (j + 1) // 2 + j] = r[j] + lost
            for i in range(j + 1, rows):
                own, other = i * (i + 1) // 2, j * (j + 1) // 2 + j
                s = nothing(factors)
                for k in range(j, i):
                    s = s - t[own + k] * m[other]
                    other = other + k + 1
                m[own + j] = s * r[i]
        for i in range(rows):
            for j in range(i + 1):
                own, other, s = i * (i + 1) // 2 + i, i * (i + 1) // 2 + j, lost
                for k in range(i, rows):
                    s = s + m[own] * m[other]
                    own, other = own + k + 1, other + k + 1
                scattered(found, start + i * rows + j, size, s)
                scattered(found, start + j * rows + i, size, s)


def run(which, first, last, a, b, found, rows, many, columns) -> None:
    """Some tiles of one of these functions, by its place in ``FUNCTIONS``."""
    if which == 0:
        factor(first, last, b, found, rows, many)
    elif which == 1:
        lower(first, last, a, b, found, rows, many, columns)
    elif which == 2:
        upper(first, last, a, b, found, rows, many, columns)
    else:
        inverse(first, last, b, found, rows, many)


FUNCTIONS = ("factor", "lower", "upper", "inverse")
