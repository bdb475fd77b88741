"""Ball arithmetic with no more bits than it takes: a ball tells how many of its own are right."""

from collections.abc import Callable, Iterable, Sequence

from flint import arb, ctx


def certified(function: Callable[[], Sequence[arb]], enough: int, bits: Iterable[int]) -> Sequence[arb]:
    """Balls that a function gives with the first of ``bits`` that leave all of them ``enough``, or with the last."""
    found: Sequence[arb] = ()
    for each in bits:
        with ctx.workprec(each):
            found = function()
        if all(ball.rel_accuracy_bits() >= enough for ball in found):
            break
    return found
