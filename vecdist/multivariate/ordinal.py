"""Categories in order, parted by cutpoints: what families of them share."""

import math

from vecdist.constraints import whole_interval
from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node, cast, where
from vecdist.multivariate.events import chosen, each_of, event_length, over_event


def outside_categories(x: Node, p: Parameters) -> Node | None:
    """Where ``x`` is none of the categories 0 to J that J cutpoints part."""
    return whole_interval(0.0, float(event_length(p.cutpoints))).violated(x, p.whole)


def cuts_around(x: Node, cutpoints: Node) -> tuple[Node, Node]:
    """The cutpoints below and above a category, infinite at either end."""
    below = where(x < 0.5, -math.inf, chosen(cutpoints, x - 1.0))
    above = where(x > event_length(cutpoints) - 0.5, math.inf, chosen(cutpoints, x))
    return below, above


def category(latent: Node, cutpoints: Node) -> Node:
    """The number of cutpoints below a latent variable."""
    return over_event(cast(cutpoints < each_of(latent), latent.dtype))
