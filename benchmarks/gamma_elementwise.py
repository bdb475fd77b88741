"""Gamma(a, t) at x, every one of them an array: the value and its three partial derivatives, elementwise."""

from gamma import compete, problem
from timing import options

ARRAYS = 3 + 4  # read and written

if __name__ == "__main__":
    chosen = options(__doc__, {"cpu": 2**22, "cuda": 2**26})
    given = problem(chosen, summed=False)
    compete("Gamma, value and three partials, elementwise", given, ARRAYS * given.x.nbytes)
