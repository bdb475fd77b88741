"""What a chain keeps, and where: rows of D numbers, single numbers, and integers.

Positions are those that the log density is a function of; momenta r are those of whitened positions u = A^-1 x, where
the metric is A A^T, and so are the gradients h = A^T grad log p(x).  The rows where the chain is are an array ``w`` of
their own where they are near, on a GPU in the memory of a thread; all others are in ``v``, ``STRIDE`` numbers from one
to the next.
"""

from __future__ import annotations

# Rows of w: where the chain is, with what moves it there, and the sum of momenta of the part that grows.
X, R, H, OWN_TOTAL = range(4)
NEAR = 4

# Rows of v: the two ends of its tree; what it has chosen, in the whole tree and in the part that grows; the sum of
# momenta of the whole; and the mean of positions, for the metric.
LEFT_X, LEFT_R, LEFT_H, RIGHT_X, RIGHT_R, RIGHT_H = range(NEAR, 10)
CHOSEN_X, CHOSEN_H, OWN_X, OWN_H = range(10, 14)
TOTAL, MEAN, SHIFT = range(14, 17)
CHECKS = 17  # the first of as many rows for momenta that turns are looked for from as trees may be deep
STRIDE = 1

# Numbers.
STEP, LOG_AVERAGE, LAG, CENTRE, ACCEPTANCE = range(5)
START, CHOSEN_VALUE, CHOSEN_ENERGY, OWN_VALUE, OWN_ENERGY, WEIGHT, OWN_WEIGHT, ACCEPTED = range(5, 13)
NUMBERS = 13

# Integers: what is as it was given, such as for how many directions there is room; then what changes.
SIZE, DEEPEST, METRIC, RANK, WARMUP, DRAWS, FIRST, WINDOWS = range(8)
PHASE, NUMBER, DEPTH, LEAF, STEPS, WAY, EVENT, WINDOW, LEARNT, SEEN, SEARCH, USED = range(8, 20)
INTEGERS = 20

# Metrics: a diagonal, a whole matrix, or a diagonal with a few directions beside it.
DIAGONAL, DENSE, LOW_RANK = range(3)

# Phases: the first gradient where a draw begins, steps that only try step sizes, steps of a tree, and those in which no
# gradient is wanted: the end, and the time until the metric is learnt elsewhere.
STARTING, SEARCHING, GROWING, DONE, WAITING = range(5)

# What is to be done about a gradient.
NOTHING, ON, DOUBLE, TRY, BEGIN, FINISH = range(6)

# What is told of a draw.
TOLD = ("log_density", "energy", "acceptance", "divergent", "steps")
TOLDS = len(TOLD)


def sums(n):  # noqa: ANN001, ANN201
    """Where the rows begin that sum momenta up to where turns are looked for from."""
    return CHECKS + n[DEEPEST]


def scales(n):  # noqa: ANN001, ANN201
    """Where the rows of A begin: one of its diagonal, or D, or those of directions and of their stretches behind it."""
    return CHECKS + 2 * n[DEEPEST]


def squares(n):  # noqa: ANN001, ANN201
    """Where the rows begin that sum squares of positions about their mean: one, or D, or none."""
    return scales(n) + (n[SIZE] if n[METRIC] == DENSE else (n[RANK] + 2 if n[METRIC] == LOW_RANK else 1))


def rows(n):  # noqa: ANN001, ANN201
    """How many rows there are."""
    return squares(n) + (n[SIZE] if n[METRIC] == DENSE else (0 if n[METRIC] == LOW_RANK else 1))
