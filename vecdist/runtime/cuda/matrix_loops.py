"""Factors, solutions and inverses of small matrices on a GPU: a thread for each matrix, or for each column.

Plain Python, which ``frontend.py`` reads.  Threads of a warp read the same elements of a factor, and neighbours of what
it is for, so that nothing waits for others; a thread has its triangle, or its column, in memory of its own.
Golub and Van Loan (2013), Matrix Computations, fourth edition, sections 3.1 and 4.2.
"""

# ruff: noqa: ANN001

from __future__ import annotations

from typing import Any

ROWS = TRIANGLE = 0  # in the code, the elements of a row and of a triangle at most
cuda: Any = None
root: Any = None
inverted: Any = None
spoilt: Any = None
nothing: Any = None
room: Any = None


def factor(a, b, found, rows, columns, count) -> None:
    """L of A = L L', of which the lower triangle is read; NaN where there is none; ``b`` is A."""
    matrix = cuda.grid(1)
    if matrix < count:
        t, r, start = room(b, TRIANGLE), room(b, ROWS), matrix * rows * rows
        lost, own = nothing(b), 0
        for i in range(rows):
            other, rest = 0, b[start + i * rows + i]
            for j in range(i):
                s = b[start + i * rows + j]
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
            for j in range(rows):
                if j <= i:
                    found[start + i * rows + j] = t[own + j] + lost
                else:
                    found[start + i * rows + j] = lost
            own = own + i + 1


def lower(a, b, found, rows, columns, count) -> None:
    """L^-1 B."""
    number = cuda.grid(1)
    if number < count:
        matrix, column = number // columns, number % columns
        x, start, place = room(b, ROWS), matrix * rows * rows, matrix * rows * columns + column
        lost = nothing(b)
        for i in range(rows):
            s, own = b[place + i * columns], start + i * rows
            for k in range(i):
                s = s - a[own + k] * x[k]
            r = inverted(a[own + i])
            lost = lost + spoilt(r)
            x[i] = s * r
        for i in range(rows):
            found[place + i * columns] = x[i] + lost


def upper(a, b, found, rows, columns, count) -> None:
    """L'^-1 B."""
    number = cuda.grid(1)
    if number < count:
        matrix, column = number // columns, number % columns
        x, start, place = room(b, ROWS), matrix * rows * rows, matrix * rows * columns + column
        lost = nothing(b)
        for i in range(rows - 1, -1, -1):
            s = b[place + i * columns]
            for k in range(i + 1, rows):
                s = s - a[start + k * rows + i] * x[k]
            r = inverted(a[start + i * rows + i])
            lost = lost + spoilt(r)
            x[i] = s * r
        for i in range(rows):
            found[place + i * columns] = x[i] + lost


def inverse(a, b, found, rows, columns, count) -> None:
    """(L L')^-1, whose columns are L'^-1 L^-1 of unit vectors; ``b`` is L."""
    number = cuda.grid(1)
    if number < count:
        matrix, column = number // columns, number % columns
        x, start = room(b, ROWS), matrix * rows * rows
        lost = nothing(b)
        for i in range(rows):
            own, s = start + i * rows, nothing(b)
            r = inverted(b[own + i])
            lost = lost + spoilt(r)
            if i == column:
                s = s + r
            if i > column:
                for k in range(column, i):
                    s = s - b[own + k] * x[k]
                s = s * r
            x[i] = s
        for i in range(rows - 1, -1, -1):
            s = x[i]
            for k in range(i + 1, rows):
                s = s - b[start + k * rows + i] * x[k]
            x[i] = s * inverted(b[start + i * rows + i])
        for i in range(rows):
            found[start + i * rows + column] = x[i] + lost


FUNCTIONS: dict[str, Any] = {each.__name__: each for each in (factor, lower, upper, inverse)}
