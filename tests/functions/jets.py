"""Numbers with first and second derivatives in two variables, in plain Python: an oracle that shares no code."""

import math


class Jet:
    """v + g . d + d . h . d / 2 for a small step d of the two variables."""

    def __init__(self, v, g=(0.0, 0.0), h=(0.0, 0.0, 0.0)):
        self.v, self.g, self.h = float(v), g, h

    def through(self, v, first, second):
        """A function of this number, from its value and derivatives there."""
        a, b = self.g
        h = [first * each + second * more for each, more in zip(self.h, (a * a, a * b, b * b), strict=True)]
        return Jet(v, (first * a, first * b), tuple(h))

    def __add__(self, other):
        other = jet(other)
        return Jet(self.v + other.v, _sum(self.g, other.g), _sum(self.h, other.h))

    def __mul__(self, other):
        other = jet(other)
        (a, b), (c, d) = self.g, other.g
        cross = (2 * a * c, a * d + b * c, 2 * b * d)
        h = [self.v * y + other.v * x + z for x, y, z in zip(self.h, other.h, cross, strict=True)]
        return Jet(self.v * other.v, (self.v * c + other.v * a, self.v * d + other.v * b), tuple(h))

    def __neg__(self):
        return self * -1.0

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + -jet(other)

    def __rsub__(self, other):
        return jet(other) - self

    def __truediv__(self, other):
        other = jet(other)
        found = self * other.through(1 / other.v, -1 / other.v**2, 2 / other.v**3)
        return Jet(self.v / other.v, found.g, found.h)  # rounded as Python does

    def __rtruediv__(self, other):
        return jet(other) / self

    def __pow__(self, n):
        assert n >= 1
        return self.through(self.v**n, n * self.v ** (n - 1), n * (n - 1) * self.v ** (n - 2) if n > 1 else 0.0)

    def __mod__(self, other):
        assert not isinstance(other, Jet)
        return Jet(self.v % other, self.g, self.h)

    def __floordiv__(self, other):
        return Jet(self.v // other)

    def __abs__(self):
        sign = (self.v > 0) - (self.v < 0)
        return self.through(abs(self.v), sign, 0.0)

    def __int__(self):
        return int(self.v)

    def __round__(self):
        return round(self.v)

    def __float__(self):
        raise AssertionError("a derivative would be lost")

    def __bool__(self):
        return self.v != 0

    def __lt__(self, other):
        return self.v < jet(other).v

    def __le__(self, other):
        return self.v <= jet(other).v

    def __gt__(self, other):
        return self.v > jet(other).v

    def __ge__(self, other):
        return self.v >= jet(other).v

    def __eq__(self, other):
        return self.v == jet(other).v

    __hash__ = None
    __radd__ = __add__
    __rmul__ = __mul__


def jet(x):
    return x if isinstance(x, Jet) else Jet(x)


def _sum(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _of(function, first, second):
    def known(x):
        if not isinstance(x, Jet):
            return function(x)
        return x.through(function(x.v), first(x.v), second(x.v))

    return known


class Math:
    """What programs use of ``math``."""

    pi = math.pi
    sin = staticmethod(_of(math.sin, math.cos, lambda x: -math.sin(x)))
    cos = staticmethod(_of(math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)))
    exp = staticmethod(_of(math.exp, math.exp, math.exp))
    log = staticmethod(_of(math.log, lambda x: 1 / x, lambda x: -1 / x**2))
    log1p = staticmethod(_of(math.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2))
    sqrt = staticmethod(_of(math.sqrt, lambda x: 0.5 / math.sqrt(x), lambda x: -0.25 * x**-1.5))
    tanh = staticmethod(
        _of(math.tanh, lambda x: 1 - math.tanh(x) ** 2, lambda x: -2 * math.tanh(x) * (1 - math.tanh(x) ** 2))
    )
    atan = staticmethod(_of(math.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2))
    floor = staticmethod(lambda x: math.floor(x.v if isinstance(x, Jet) else x))
