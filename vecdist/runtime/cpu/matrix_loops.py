"""Factors, solutions and inverses of small matrices, of as many at once as a vector has lanes, as loops.

Plain Python in the words of ``vectors.py``, which ``frontend.py`` reads.  A triangle lies by rows that end at the
diagonal, a square by whole rows.  Golub and Van Loan (2013), Matrix Computations, fourth edition, sections 3.1, 3.4
and 4.2.
"""

# ruff: noqa: ANN001, ANN201
# pyright: reportUndefinedVariable=false

from __future__ import annotations

from typing import Any

LANES = 0  # in the code, how many matrices are side by side
ROWS = TRIANGLE = SQUARE = 0  # and the elements of a row, of a triangle and of a square, at most
gathered: Any = None
scattered: Any = None
root: Any = None
inverted: Any = None
spoilt: Any = None
nothing: Any = None
room: Any = None
larger: Any = None
some_larger: Any = None
unit: Any = None


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


def eliminated(t, x, r, rows, columns, sign):
    """Make an upper triangle of rows of a square, beside rows of right sides, by the largest pivot of each column.

    It leaves the inverses of pivots, and gives a sign with that of the exchanges.
    """
    none = sign - sign
    for k in range(rows):
        own, right = k * rows, k * columns
        for i in range(k + 1, rows):
            other, beside = i * rows, i * columns
            c, d = t[other + k], t[own + k]
            if some_larger(c, d):
                sign = larger(c, d, none - sign, sign)
                for j in range(k, rows):
                    u, v = t[own + j], t[other + j]
                    t[own + j], t[other + j] = larger(c, d, v, u), larger(c, d, u, v)
                for j in range(columns):
                    u, v = x[right + j], x[beside + j]
                    x[right + j], x[beside + j] = larger(c, d, v, u), larger(c, d, u, v)
        pivot = t[own + k]
        r[k] = inverted(pivot)
        for i in range(k + 1, rows):
            other, beside = i * rows, i * columns
            s = larger(pivot, none, t[other + k] * r[k], none)
            for j in range(k + 1, rows):
                t[other + j] = t[other + j] - s * t[own + j]
            for j in range(columns):
                x[beside + j] = x[beside + j] - s * x[right + j]
    return sign


def pivots(first, last, a, found, rows, many):
    """The pivots of elimination, the first with the sign of the exchanges: their product is the determinant."""
    t, r, size = room(a, SQUARE), room(a, ROWS), rows * rows
    for tile in range(first, last):
        start = min(tile * LANES, many - LANES)
        for i in range(size):
            t[i] = gathered(a, start * size + i, size)
        t[0] = eliminated(t, t, r, rows, 0, unit(a)) * t[0]
        for i in range(rows):
            scattered(found, start * rows + i, rows, t[i * rows + i])


def substituted(t, x, r, rows, columns, lost):
    """Put A^-1 B in the place of B, by elimination; what is NaN where A is singular, and else nothing."""
    eliminated(t, x, r, rows, columns, lost)
    for i in range(rows - 1, -1, -1):
        own, lost = i * columns, lost + spoilt(r[i])
        for k in range(i + 1, rows):
            for j in range(columns):
                x[own + j] = x[own + j] - t[i * rows + k] * x[k * columns + j]
        for j in range(columns):
            x[own + j] = x[own + j] * r[i]
    return lost


def solution(first, last, a, b, found, rows, many, columns, down, across):
    """A^-1 B, of as many columns at once as there are rows; NaN where A is singular.

    Elements of A are so far apart down a column and across a row.
    """
    t, x, r = room(a, SQUARE), room(a, SQUARE), room(a, ROWS)
    size, wide = rows * rows, rows * columns
    for tile in range(first, last):
        place = min(tile * LANES, many - LANES)
        for left in range(0, columns, rows):
            some, start = min(rows, columns - left), place * wide + left
            for i in range(rows):
                for j in range(rows):
                    t[i * rows + j] = gathered(a, place * size + i * down + j * across, size)
                for j in range(some):
                    x[i * some + j] = gathered(b, start + i * columns + j, wide)
            lost = substituted(t, x, r, rows, some, nothing(a))
            for i in range(rows):
                for j in range(some):
                    scattered(found, start + i * columns + j, wide, x[i * some + j] + lost)


def inversion(first, last, a, found, rows, many):
    """A^-1; NaN where A is singular."""
    t, x, r, size = room(a, SQUARE), room(a, SQUARE), room(a, ROWS), rows * rows
    for tile in range(first, last):
        start = min(tile * LANES, many - LANES) * size
        for i in range(size):
            t[i], x[i] = gathered(a, start + i, size), nothing(a)
        for i in range(rows):
            x[i * rows + i] = unit(a)
        lost = substituted(t, x, r, rows, rows, nothing(a))
        for i in range(size):
            scattered(found, start + i, size, x[i] + lost)


def run(which, first, last, a, b, found, rows, many, columns) -> None:
    """Some tiles of one of these functions, by its place in ``FUNCTIONS``."""
    if which == 0:
        factor(first, last, b, found, rows, many)
    elif which == 1:
        lower(first, last, a, b, found, rows, many, columns)
    elif which == 2:
        upper(first, last, a, b, found, rows, many, columns)
    elif which == 3:
        inverse(first, last, b, found, rows, many)
    elif which == 4:
        pivots(first, last, b, found, rows, many)
    elif which == 5:
        inversion(first, last, b, found, rows, many)
    elif which == 6:
        solution(first, last, a, b, found, rows, many, columns, rows, 1)
    else:
        solution(first, last, a, b, found, rows, many, columns, 1, rows)


FUNCTIONS = ("factor", "lower", "upper", "inverse", "pivots", "inversion", "solution", "transposed")
CODE = (*FUNCTIONS[:-1], "taken", "eliminated", "substituted")  # the functions of these, and what they call
