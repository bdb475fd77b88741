"""Gamma(a, t) at x, every one of them an array: the value and its three partial derivatives, elementwise."""

import timing
from gamma import contenders, contest

if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**26})
    given = contest("Gamma, value and three partials, elementwise", chosen, summed=False)
    given.run(contenders(given))
