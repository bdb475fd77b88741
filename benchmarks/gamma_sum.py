"""Gamma(a, t) at x with scalar a and t: the sum of the log density, and its gradient in a and t."""

import timing
from gamma import compete, problem

if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**28})
    given = problem(chosen, summed=True)
    compete("Gamma, sum and gradient in two scalars", given, given.x.nbytes)
