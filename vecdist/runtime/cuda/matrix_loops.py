"""Factors, solutions and inverses of small matrices on a GPU: a group of threads for each, in memory of a block.

Plain Python, which ``frontend.py`` reads.  A group has a lane for each row, or column: the lower triangle that it works
on lies in memory of its block, row after row, an odd number of elements apart, so that lanes that read a column find it
in different banks.  Groups behind the last matrix do what the last one does.  Rows are not exchanged for larger pivots:
each lane knows which place in turn its row has.
Golub and Van Loan (2013), Matrix Computations, fourth edition, sections 3.1, 3.4 and 4.2.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

from typing import Any

ROOM = 0  # in the code, the elements in memory of a block at most
WARP = 0xFFFFFFFF  # all lanes
BITS = 0x7FFFFFFFFFFFFFC0  # the bits of a float64 without its sign and the last six
cuda: Any = None
root: Any = None
inverted: Any = None
spoilt: Any = None
nothing: Any = None
unit: Any = None
shared: Any = None
as_i8: Any = None
f8: Any = None
entry: Any = None  # what a solution reads of a matrix, or of its transpose
right: Any = None  # and of right sides: what is given, or the unit matrix


def factor(a, b, found, rows, columns, lanes, count):
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


def lower(a, b, found, rows, columns, lanes, count):
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
        put(found, place, more, s + lost, u + lost, v + lost, w + lost)


def upper(a, b, found, rows, columns, lanes, count):
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
        put(found, place, more, s + lost, u + lost, v + lost, w + lost)


def behind(t, own, lane, k):
    """The element at a place of the column that lies behind a lane's row: nothing before its first."""
    s = t[own + k + 1]
    if k < lane:
        s = nothing(t)
    return s


def inverse(a, b, found, rows, columns, lanes, count):
    """(L L')^-1 = L'^-1 L^-1; ``b`` is L, and a lane's column of L^-1 lies behind its row of L.

    All lanes are at the same place of their columns, which begin with zeros: so they read from different banks.
    """
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
        for i in range(1, rows):
            s, other = nothing(b), first + i * apart
            for k in range(i):
                s = s - t[other + k] * behind(t, own, lane, k)
            if lane < i:
                t[own + i + 1] = s * t[other + i]
    cuda.syncthreads()
    if lane < rows:
        for i in range(rows):
            s, other = lost, first + i * apart
            for k in range(i, rows):
                s = s + t[other + k + 1] * behind(t, own, lane, k)
            found[start + i * rows + lane] = s


def chosen_in_warp(t, first, apart, rows, lane, lanes, k, used):
    """The row with the largest element of a column, of those whose bits are not set, as lanes of a warp find it.

    Each has the bits of its element, in the last of which is which lane it is: so near elements are equal, and of these
    the first is taken.
    """
    key = -1
    if (lane < rows) & (((used >> lane) & 1) == 0):
        key = (as_i8(f8(t[first + lane * apart + k])) & BITS) | (63 - lane)
    for half in range(1, 6):
        key = max(key, cuda.shfl_xor_sync(WARP, key, lanes >> half))
    return 63 - (key & 63)


def chosen(t, first, apart, rows, lane, lanes, k, used):
    """The same as each lane finds it, where there are more than in a warp."""
    found, most = -1, t[first] - t[first]
    for i in range(rows):
        s = t[first + i * apart + k]
        s = max(s, -s)
        if (((used >> i) & 1) == 0) & ((found < 0) | (s > most)):
            found, most = i, s
    return found


def reduced(t, own, other, rows, k, inverse):
    """Take a pivot's row from another one, so often that nothing is left in a column, where that share is left."""
    s = t[own + k]
    if t[other + k] != 0:
        s = s * inverse
    t[own + k] = s
    for j in range(k + 1, rows - 3, 4):  # reading ahead of what is stored, which the compiler cannot know to be apart
        a, b, c, d = t[own + j], t[own + j + 1], t[own + j + 2], t[own + j + 3]
        u, v, w, x = t[other + j], t[other + j + 1], t[other + j + 2], t[other + j + 3]
        t[own + j], t[own + j + 1], t[own + j + 2], t[own + j + 3] = a - s * u, b - s * v, c - s * w, d - s * x
    for j in range(rows - (rows - k - 1) % 4, rows):
        t[own + j] = t[own + j] - s * t[other + j]


def pivots(a, b, found, rows, columns, lanes, count):
    """The pivots of elimination, the first with the sign of the exchanges: their product is the determinant."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups = (rows + 1) | 1, cuda.blockDim.x // lanes
    number = min(cuda.blockIdx.x * groups + group, count - 1)
    t, first = shared(b, ROOM), group * rows * apart
    own, used, rank, turns = first + lane * apart, 0, -1, 0
    for i in range(rows):
        if lane < rows:
            t[first + i * apart + lane] = b[(number * rows + i) * rows + lane]
    cuda.syncthreads()
    for k in range(rows):
        p = chosen(t, first, apart, rows, lane, lanes, k, used)
        for i in range(p):
            turns = turns + 1 - ((used >> i) & 1)
        used = used | (1 << p)
        if lane == p:
            rank = k
        cuda.syncthreads()
        if (rank < 0) & (lane < rows):
            reduced(t, own, first + p * apart, rows, k, inverted(t[first + p * apart + k]))
        cuda.syncthreads()
    if rank >= 0:
        s = t[own + rank]
        if (rank == 0) & (turns % 2 == 1):
            s = -s
        found[number * rows + rank] = s


def by_rows(a, start, rows, i, j):
    """An element of a matrix that begins here."""
    return a[start + i * rows + j]


def by_columns(a, start, rows, i, j):
    """The same of its transpose."""
    return a[start + j * rows + i]


def given(b, place, more, apart):
    """What stands on the right of a row in the next four columns, or fewer that there are."""
    return b[place], b[place + min(1, more - 1)], b[place + min(2, more - 1)], b[place + min(3, more - 1)]


def of_unit(b, place, more, apart):
    """The same of the unit matrix, whose one is so far from the first of them."""
    s, u, v, w = nothing(b), nothing(b), nothing(b), nothing(b)
    if apart == 0:
        s = unit(b)
    if apart == 1:
        u = unit(b)
    if apart == 2:
        v = unit(b)
    if apart == 3:
        w = unit(b)
    return s, u, v, w


def eliminated(t, first, apart, known, rows, lane, lanes, s, u, v, w, lost):
    """Rows of an upper triangle, of which each lane knows its place; right sides, the inverse of its pivot, and NaN."""
    own, used, rank, r = first + lane * apart, 0, -1, lost
    for k in range(rows):
        p, x = chosen(t, first, apart, rows, lane, lanes, k, used), known + 4 * k
        used, inverse = used | (1 << p), inverted(t[first + p * apart + k])
        lost = lost + spoilt(inverse)
        if lane == p:
            rank, r = k, inverse
            t[x], t[x + 1], t[x + 2], t[x + 3] = s, u, v, w
        cuda.syncthreads()
        if (rank < 0) & (lane < rows):
            reduced(t, own, first + p * apart, rows, k, inverse)
            c = t[own + k]
            s, u, v, w = s - c * t[x], u - c * t[x + 1], v - c * t[x + 2], w - c * t[x + 3]
        cuda.syncthreads()
    return s, u, v, w, r, rank, lost


def substituted(t, own, known, rows, rank, r, s, u, v, w):
    """What an upper triangle of rows in such places has as solutions."""
    for k in range(rows - 1, -1, -1):
        x = known + 4 * k
        if rank == k:
            s, u, v, w = s * r, u * r, v * r, w * r
            t[x], t[x + 1], t[x + 2], t[x + 3] = s, u, v, w
        cuda.syncthreads()
        if (rank >= 0) & (rank < k):
            c = t[own + k]
            s, u, v, w = s - c * t[x], u - c * t[x + 1], v - c * t[x + 2], w - c * t[x + 3]
    return s, u, v, w


def put(found, place, more, s, u, v, w):
    """Store to the next four columns, or fewer that there are."""
    found[place] = s
    if more > 1:
        found[place + 1] = u
    if more > 2:
        found[place + 2] = v
    if more > 3:
        found[place + 3] = w


def solution(a, b, found, rows, columns, lanes, count):
    """A^-1 B, of which a lane has a row, and a group four columns; NaN where A is singular."""
    group, lane = cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
    apart, groups, strips = (rows + 1) | 1, cuda.blockDim.x // lanes, (columns + 3) // 4
    number = min(cuda.blockIdx.x * groups + group, count - 1)
    matrix, column = number // strips, number % strips * 4
    t, first, more = shared(b, ROOM), group * (rows * apart + 4 * rows), columns - column
    own, known, lost = first + lane * apart, first + rows * apart, nothing(b)
    for i in range(rows):
        if lane < rows:
            t[first + i * apart + lane] = entry(a, matrix * rows * rows, rows, i, lane)
    s, u, v, w = lost, lost, lost, lost
    if lane < rows:
        s, u, v, w = right(b, (matrix * rows + lane) * columns + column, more, lane - column)
    cuda.syncthreads()
    s, u, v, w, r, rank, lost = eliminated(t, first, apart, known, rows, lane, lanes, s, u, v, w, lost)
    s, u, v, w = substituted(t, own, known, rows, rank, r, s, u, v, w)
    if rank >= 0:
        put(found, (matrix * rows + rank) * columns + column, more, s + lost, u + lost, v + lost, w + lost)


FUNCTIONS: dict[str, Any] = {each.__name__: each for each in (factor, lower, upper, inverse, pivots, solution)}
FUNCTIONS |= {"inversion": solution, "transposed": solution}
MEANINGS: dict[str, dict[str, Any]] = {  # of what stands for several functions
    "solution": {"entry": by_rows, "right": given}, "transposed": {"entry": by_columns, "right": given},
    "inversion": {"entry": by_rows, "right": of_unit},
}  # fmt: skip
SHARED: dict[str, Any] = {each.__name__: each for each in (behind, chosen, reduced, eliminated, substituted, put)}
IN_WARP: dict[str, Any] = {"chosen": chosen_in_warp}  # in place of what it stands for, where no group is larger
