"""Means and variances of sigmoid(x) for normal and logistic x, by integrals; for x of a median of at most 0.

Where x is wide its sigmoid is nearly a step: then by E h(x) = ∫ h'(y) P(x > y) dy, whose terms are smooth at any width.
Windows hold what is above exp(-40) of the whole, though that itself be tiny.
"""

from __future__ import annotations

import math

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import maximum, minimum, square
from vecdist.primitives.elementary import exp, sigmoid
from vecdist.special.normal_tail import ndtr
from vecdist.special.quadrature import integral

WIDE = 4.0  # standard deviations of a normal x from where it is wide
FINE, STEP = 0.125, 0.5  # the poles of the terms are at distances of pi / 4 or pi at least


def _normal(z: Node) -> Node:
    return exp(-0.5 * square(z)) / math.sqrt(2 * math.pi)


def _rise(y: Node) -> Node:
    """The slope of a sigmoid, which is a logistic density."""
    return sigmoid(y) * sigmoid(-y)


def _rise_of_square(y: Node) -> Node:
    return 2.0 * square(sigmoid(y)) * sigmoid(-y)


def of_normal(loc: Node, scale: Node) -> tuple[Node, Node]:
    """The mean and the variance of sigmoid(loc + scale z) for a normal z, where ``loc`` is at most 0."""
    narrow, given = scale < WIDE, (loc, scale)
    deep = loc < -0.5 * square(scale)
    peak = minimum(loc + square(scale), 0.0)
    low = where(deep, maximum(peak - 9.0 * scale, -800.0), -80.0)

    def beyond(rise: Node, y: Node, loc: Node, scale: Node) -> Node:
        return rise * ndtr((loc - y) / scale)

    near = integral(lambda z, loc, scale: _normal(z) * sigmoid(loc + scale * z), -12.0, 12.0, FINE, given, narrow)
    far = integral(lambda y, *at: beyond(_rise(y), y, *at), low, 40.0, STEP, given, ~narrow)
    mean = near + far
    spread = integral(
        lambda z, loc, scale, mean: _normal(z) * square(sigmoid(loc + scale * z) - mean),
        -12.0, 18.0, FINE, (*given, mean), narrow,
    )
    squares = integral(lambda y, *at: beyond(_rise_of_square(y), y, *at), low, 40.0, STEP, given, ~narrow)
    return mean, where(narrow, spread, squares - square(mean))


def of_logistic(loc: Node, scale: Node) -> tuple[Node, Node]:
    """The mean and the variance of sigmoid(loc + scale y) for a logistic y, where ``loc`` is at most 0."""
    narrow, given = scale <= 1.0, (loc, scale)
    high = minimum(40.0 / (1.0 - minimum(scale, 1.0)), 40.0 - loc)
    low = maximum(-40.0 / (1.0 - minimum(1.0 / scale, 1.0)), loc - 40.0)

    def beyond(rise: Node, y: Node, loc: Node, scale: Node) -> Node:
        return rise * sigmoid((loc - y) / scale)

    near = integral(lambda y, loc, scale: _rise(y) * sigmoid(loc + scale * y), -40.0, high, STEP, given, narrow)
    far = integral(lambda y, *at: beyond(_rise(y), y, *at), low, 40.0, STEP, given, ~narrow)
    mean = near + far
    spread = integral(
        lambda y, loc, scale, mean: _rise(y) * square(sigmoid(loc + scale * y) - mean),
        -40.0, high, STEP, (*given, mean), narrow,
    )
    squares = integral(lambda y, *at: beyond(_rise_of_square(y), y, *at), low, 40.0, STEP, given, ~narrow)
    return mean, where(narrow, spread, squares - square(mean))
