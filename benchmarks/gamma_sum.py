"""Gamma(a, t) at x with scalar a and t: the sum of the log density, and its gradient in a and t."""

import timing
from gamma import contenders, contest

if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**28})
    given = contest("Gamma, sum and gradient in two scalars", chosen, summed=True)
    given.run(contenders(given))
