"""Factors, solutions and inverses of small matrices on a GPU: a group of threads for each, in memory of a block.

Plain Python, which ``frontend.py`` reads.  A group has a lane for each row, or column: the lower triangle that it works
on lies in memory of its block, row after row, an odd number of elements apart, so that lanes that read a column find it
in different banks.  Groups behind the last matrix do what the last one does.
Golub and Van Loan (2013), Matrix Computations, fourth edition, sections 3.1 and 4.2.
"""

# ruff: noqa: ANN001

from __future__ import annotations

from typing import Any

ROOM = 0  # in the code, the elements in memory of a block at most
cuda: Any = None
root: Any = None
inverted: Any = None
spoilt: Any = None
nothing: Any = None
shared: Any = None


def factor(a, b, found, rows, columns, lanes, count) -> None:
    """L of A = L L', of which the lower triangle is read; NaN where there is none; ``b`` is A."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups = (rows + 1) | 1, cuda.blockDim.x // lanes
    start = min(cuda.blockIdx.x * groups + group, count - 1) * rows * rows
    t, first = shared(b, ROOM), group * rows * apart
    own, lost, corner = first + lane * apart, nothing(b), nothing(b)
    for i in range(rows):
        if lane <= i:
            t[first + i * apart + lane] = b[start + i * rows + lane]
    cuda.syncthreads()
    for k in range(rows):
        other = first + k * apart
        if (k <= lane) & (lane < rows):
            s = t[own + k]
            for j in range(k):
                s = s - t[own + j] * t[other + j]
            t[own + k] = s
        cuda.syncthreads()
        s = root(t[other + k])
        lost = lost + spoilt(s)
        if lane == k:
            corner = s
        elif (k < lane) & (lane < rows):
            t[own + k] = t[own + k] * inverted(s)
        cuda.syncthreads()
    if lane < rows:
        for i in range(rows):
            s = lost
            if lane < i:
                s = s + t[first + i * apart + lane]
            elif lane == i:
                s = s + corner
            found[start + i * rows + lane] = s


def lower(a, b, found, rows, columns, lanes, count) -> None:
    """L^-1 B, of which a lane has a row, and a group four columns."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups, strips = (rows + 1) | 1, cuda.blockDim.x // lanes, (columns + 3) // 4
    number = min(cuda.blockIdx.x * groups + group, count - 1)
    matrix, column = number // strips, number % strips * 4
    t, first, start = shared(b, ROOM), group * (rows * apart + 4 * rows), matrix * rows * rows
    own, known, lost = first + lane * apart, first + rows * apart, nothing(b)
    for i in range(rows):
        if lane <= i:
            t[first + i * apart + lane] = a[start + i * rows + lane]
    s, u, v, w, r = nothing(b), nothing(b), nothing(b), nothing(b), nothing(b)
    place, more = (matrix * rows + lane) * columns + column, columns - column
    if lane < rows:
        r, s = inverted(t[own + lane]), b[place]
        u, v, w = b[place + min(1, more - 1)], b[place + min(2, more - 1)], b[place + min(3, more - 1)]
        t[own + lane] = r
    for k in range(rows):
        x = known + 4 * k
        if lane == k:
            s, u, v, w = s * r, u * r, v * r, w * r
            t[x], t[x + 1], t[x + 2], t[x + 3] = s, u, v, w
        cuda.syncthreads()
        lost = lost + spoilt(t[first + k * apart + k])
        if (k < lane) & (lane < rows):
            c = t[own + k]
            s, u, v, w = s - c * t[x], u - c * t[x + 1], v - c * t[x + 2], w - c * t[x + 3]
    if lane < rows:
        found[place] = s + lost
        if more > 1:
            found[place + 1] = u + lost
        if more > 2:
            found[place + 2] = v + lost
        if more > 3:
            found[place + 3] = w + lost


def upper(a, b, found, rows, columns, lanes, count) -> None:
    """L'^-1 B, of which a lane has a row, and a group four columns."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups, strips = (rows + 1) | 1, cuda.blockDim.x // lanes, (columns + 3) // 4
    number = min(cuda.blockIdx.x * groups + group, count - 1)
    matrix, column = number // strips, number % strips * 4
    t, first, start = shared(b, ROOM), group * (rows * apart + 4 * rows), matrix * rows * rows
    own, known, lost = first + lane * apart, first + rows * apart, nothing(b)
    for i in range(rows):
        if lane <= i:
            t[first + i * apart + lane] = a[start + i * rows + lane]
    s, u, v, w, r = nothing(b), nothing(b), nothing(b), nothing(b), nothing(b)
    place, more = (matrix * rows + lane) * columns + column, columns - column
    if lane < rows:
        r, s = inverted(t[own + lane]), b[place]
        u, v, w = b[place + min(1, more - 1)], b[place + min(2, more - 1)], b[place + min(3, more - 1)]
        t[own + lane] = r
    for k in range(rows - 1, -1, -1):
        x = known + 4 * k
        if lane == k:
            s, u, v, w = s * r, u * r, v * r, w * r
            t[x], t[x + 1], t[x + 2], t[x + 3] = s, u, v, w
        cuda.syncthreads()
        lost = lost + spoilt(t[first + k * apart + k])
        if lane < k:
            c = t[first + k * apart + lane]
            s, u, v, w = s - c * t[x], u - c * t[x + 1], v - c * t[x + 2], w - c * t[x + 3]
    if lane < rows:
        found[place] = s + lost
        if more > 1:
            found[place + 1] = u + lost
        if more > 2:
            found[place + 2] = v + lost
        if more > 3:
            found[place + 3] = w + lost


def inverse(a, b, found, rows, columns, lanes, count) -> None:
    """(L L')^-1 = L'^-1 L^-1; ``b`` is L, and a lane's column of L^-1 lies behind its row of L."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups = (rows + 1) | 1, cuda.blockDim.x // lanes
    start = min(cuda.blockIdx.x * groups + group, count - 1) * rows * rows
    t, first = shared(b, ROOM), group * rows * apart
    own, lost = first + lane * apart, nothing(b)
    for i in range(rows):
        if lane <= i:
            t[first + i * apart + lane] = b[start + i * rows + lane]
    if lane < rows:
        t[own + lane] = inverted(t[own + lane])
    cuda.syncthreads()
    if lane < rows:
        t[own + lane + 1] = t[own + lane]
        for i in range(rows):
            lost = lost + spoilt(t[first + i * apart + i])
        for i in range(lane + 1, rows):
            s, other = nothing(b), first + i * apart
            for k in range(lane, i):
                s = s - t[other + k] * t[own + k + 1]
            t[own + i + 1] = s * t[other + i]
    cuda.syncthreads()
    if lane < rows:
        for i in range(rows):
            s, other = lost, first + i * apart
            for k in range(max(i, lane), rows):
                s = s + t[other + k + 1] * t[own + k + 1]
            found[start + i * rows + lane] = s


FUNCTIONS: dict[str, Any] = {each.__name__: each for each in (factor, lower, upper, inverse)}
