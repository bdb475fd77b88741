"""Vectors of proportions with sum 1: what families of them share."""

from vecdist.graph.node import Node
from vecdist.multivariate.domains import tolerance
from vecdist.multivariate.events import event_length, over_event, some
from vecdist.primitives.scans import running, shifted
from vecdist.primitives.structure import pad


def outside_simplex(x: Node) -> Node:
    """Where ``x`` are no proportions; a NaN is not outside."""
    return some(x < 0.0) | (abs(over_event(x) - 1.0) > tolerance(x))


def with_zero(x: Node) -> Node:
    """``x`` with one element more, 0, behind."""
    entries = [(axis, 0, 1) for axis in range(x.ndim)]
    return pad(x, entries, (*x.shape[:-1], event_length(x) + 1))


def broken(log_share: Node, log_rest: Node) -> Node:
    """The logarithms of proportions: each takes its share of what those before it leave, the last takes the rest."""
    left = shifted(running("cumsum", with_zero(log_rest), -1), -1)
    return with_zero(log_share) + left
