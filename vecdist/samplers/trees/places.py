"""What a chain keeps, and where: rows of D numbers, single numbers, and integers.

Positions are those that the log density is a function of; momenta r are those of whitened positions u = A^-1 x, where
the metric is A A^T, and so are the gradients h = A^T grad log p(x).
"""

from __future__ import annotations

# Rows: where the chain is, with what moves it there; the two ends of its tree; what it has chosen, in the whole tree
# and in the part that grows; sums of momenta of both; and the mean of positions, for the metric.
X, R, H = range(3)
LEFT_X, LEFT_R, LEFT_H, RIGHT_X, RIGHT_R, RIGHT_H = range(3, 9)
CHOSEN_X, CHOSEN_H, OWN_X, OWN_H = range(9, 13)
TOTAL, OWN_TOTAL, MEAN, SHIFT = range(13, 17)
CHECKS = 17  # the first of as many rows for momenta that turns are looked for from as trees may be deep

# Numbers.
STEP, LOG_AVERAGE, LAG, CENTRE, ACCEPTANCE = range(5)
START, CHOSEN_VALUE, CHOSEN_ENERGY, OWN_VALUE, OWN_ENERGY, WEIGHT, OWN_WEIGHT, ACCEPTED = range(5, 13)
NUMBERS = 13

# Integers: what is as it was given; then what changes.
SIZE, DEEPEST, DENSE, WARMUP, DRAWS, FIRST, WINDOWS = range(7)
PHASE, NUMBER, DEPTH, LEAF, STEPS, WAY, EVENT, WINDOW, LEARNT, SEEN, SEARCH = range(7, 18)
INTEGERS = 18

# Phases: the first gradient where a draw begins, steps that only try step sizes, steps of a tree, and the end.
STARTING, SEARCHING, GROWING, DONE = range(4)

# What is told of a draw.
TOLD = ("log_density", "energy", "acceptance", "divergent", "steps")


def sums(n):  # noqa: ANN001, ANN201
    """Where the rows begin that sum momenta up to where turns are looked for from."""
    return CHECKS + n[DEEPEST]


def scales(n):  # noqa: ANN001, ANN201
    """Where the rows of A begin: one of its diagonal, or D."""
    return CHECKS + 2 * n[DEEPEST]


def squares(n):  # noqa: ANN001, ANN201
    """Where the rows begin that sum squares of positions about their mean: one, or D."""
    return scales(n) + (n[SIZE] if n[DENSE] else 1)


def rows(n):  # noqa: ANN001, ANN201
    """How many rows there are."""
    return squares(n) + (n[SIZE] if n[DENSE] else 1)
