"""What Stirling's formula leaves of lgamma and digamma: what remains of entropies, whose large terms cancel."""

from __future__ import annotations

from collections.abc import Callable

from vecdist.graph.node import Node, where
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import polynomial, width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.gamma_functions import (
    CONSTANT,
    DIGAMMA,
    LGAMMA,
    POSITIVE,
    SHIFT,
    TETRAGAMMA,
    TRIGAMMA,
    digamma,
    lgamma,
    tetragamma,
    trigamma_excess,
)

MANY = 32.0  # from where on a few terms of the asymptotic series are all of it
# B(2 k) / (2 k (2 k - 1)), B(2 k) / (2 k), B(2 k) and -(2 k + 1) B(2 k) from k = 1 on, the last after -1/2: DLMF 24.2.1
LGAMMA_TERMS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
DIGAMMA_TERMS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760)
TRIGAMMA_TERMS = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
TETRAGAMMA_TERMS = (-1 / 2, 1 / 6, -1 / 6, 3 / 10, -5 / 6, 691 / 210)


def _left(few: Callable[[Node], Node], table: dict, terms: tuple[float, ...], power: int) -> Callable[[Node], Node]:
    """The series over a power of x, from ``SHIFT`` on; below a difference, which is known as well as its terms."""

    def function(x: Node) -> Node:
        below, r = x < SHIFT[width(x)], 1.0 / x
        square = r * r
        series = where(x > MANY, polynomial(square, terms), polynomial(square, table[width(x)]))
        for factor in ([r] if power % 2 else []) + [square] * (power // 2):
            series = factor * series
        return where(below, few(where(below, x, 1.0)), series)

    return function


def _tetragamma_fall(x: Node) -> Node:
    return tetragamma(x) + (1.0 + 1.0 / x) / x / x


_tetragamma_left = _left(_tetragamma_fall, TETRAGAMMA, TETRAGAMMA_TERMS, 4)
lgamma_excess: Primitive = primitive(  # lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2, DLMF 5.11.1
    "lgamma_excess", partials=lambda x, out: (-digamma_lack(x),), floating=True, domain=(POSITIVE,),
    expand=_left(lambda x: lgamma(x) - ((x - 0.5) * (log(x) - 1.0) + CONSTANT), LGAMMA, LGAMMA_TERMS, 1),
)
digamma_lack: Primitive = primitive(  # log x - 1 / (2 x) - digamma(x), DLMF 5.11.2
    "digamma_lack", partials=lambda x, out: (-trigamma_rise(x),), floating=True, domain=(POSITIVE,),
    expand=_left(lambda x: log(x) - digamma(x) - 0.5 / x, DIGAMMA, DIGAMMA_TERMS, 2),
)
trigamma_rise: Primitive = primitive(  # trigamma(x) - 1 / x - 1 / (2 x**2), DLMF 5.15.8
    "trigamma_rise", partials=lambda x, out: (_tetragamma_left(x),), floating=True, domain=(POSITIVE,),
    expand=_left(lambda x: trigamma_excess(x) - 0.5 / x / x, TRIGAMMA, TRIGAMMA_TERMS, 3),
)


def digamma_part(x: Node, more: float) -> Node:
    """(x + more) (log x - digamma(x)), which is 1/2 where x is large, without a term that cancels in its slope."""
    return (0.5 + 0.5 * more / x) + (x + more) * digamma_lack(x)
