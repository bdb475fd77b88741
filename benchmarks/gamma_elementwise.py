"""Gamma(a, t) at x, every one of them an array: the value and its three partial derivatives, elementwise."""

import timing
from gamma import compete, problem

ARRAYS = 3 + 4  # read and written

if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**26})
    given = problem(chosen, summed=False)
    compete("Gamma, value and three partials, elementwise", given, ARRAYS * given.x.nbytes)
