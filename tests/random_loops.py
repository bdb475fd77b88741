"""Random loops of elements, and what they are worth: each element by itself, in dual numbers of plain Python."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from reference import interpreted
from scipy import special

from vecdist import lazy
from vecdist.graph.node import Node, cast, const, topological, where
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.loops import local, loop

INT, BOOL = np.dtype(np.int64), np.dtype(bool)


@dataclass(frozen=True)
class Program:
    """Loops of arrays: the leaves that hold them, and the results, of which ``floats`` have derivatives."""

    leaves: list[Node]
    results: tuple[Node, ...]

    @property
    def smooth(self):
        """The leaves of floats."""
        return [leaf for leaf in self.leaves if leaf.dtype.kind == "f"]

    def roots(self):
        """The results, and the first and second derivatives of the first of them."""
        first = partials(self.results[0], self.smooth)
        second = [each for slope in first for each in partials(slope, self.smooth)]
        return (*self.results, *first, *second)


class _Writer:
    """Random scalars over locals."""

    def __init__(self, rng, dtypes, number, straight):
        self.rng, self.number, self.straight = rng, number, straight
        self.locals = [local(place, dtype) for place, dtype in enumerate(dtypes)]

    def of(self, *kinds):
        return [each for each in self.locals if each.dtype.kind in kinds]

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def number_(self, depth):
        """A float that stays in bounds, whatever it is made of."""
        if depth == 0 or self.rng.random() < 0.1:
            return self.pick(self.of("f") or [const(0.5, self.number)])
        x = self.number_(depth - 1)
        rules = [self._sum, self._product, self._function, self._choice, self._count]
        rule = self.pick(rules if self.straight else [*rules, self._nested])
        return rule(x, depth - 1)

    def _sum(self, x, depth):
        return 0.5 * x - self.number_(depth) * 0.25 + self.rng.normal()

    def _product(self, x, depth):
        return PRIMITIVES["tanh"](x) * self.number_(depth)

    def _function(self, x, depth):
        name = self.pick(["exp", "log", "sqrt", "tanh", *([] if self.straight else ["lgamma"])])
        return PRIMITIVES[name](-abs(x) if name == "exp" else 0.25 * (x * x) + 1.5)

    def _choice(self, x, depth):
        return where(self.truth(1), x, self.number_(depth))

    def _count(self, x, depth):
        counts = self.of("i")
        return x + cast(self.pick(counts), self.number) * 0.125 if counts else x / (2.0 + abs(self.number_(depth)))

    def _nested(self, x, depth):
        bound = self.count(1)
        written = _Writer(self.rng, [INT, self.number, self.number], self.number, False)
        new = written.number_(min(depth, 1)) * 0.5
        inits, test = [const(0, INT), x], written.locals[0] < 2
        if self.rng.random() < 0.5:
            test = test & (written.locals[1] < 3.0)
        active = bound < 4 if self.rng.random() < 0.5 else const(True, BOOL)
        return loop(active, inits, [self.number_(0)], test, [written.locals[0] + 1, new])[1]

    def count(self, depth):
        """A whole number that stays small."""
        counts = self.of("i")
        if not counts or depth == 0:
            return const(int(self.rng.integers(3)), INT) if not counts else self.pick(counts)
        n = self.count(depth - 1)
        return where(n < 9, n + int(self.rng.integers(1, 4)), where(self.truth(0), n - 7, 0 * n))

    def truth(self, depth):
        if depth and self.rng.random() < 0.4:
            both = self.truth(depth - 1), self.truth(0)
            return self.pick([operator.and_, operator.or_])(*both)
        rule = self.rng.integers(4)
        if rule == 0 and self.of("b"):
            return ~self.pick(self.of("b"))
        if rule == 1 and self.of("i"):
            return eq(self.pick(self.of("i")), int(self.rng.integers(3)))
        return self.number_(0) < float(self.rng.normal())


def program(seed, number=np.float64, elements=6, straight=False):
    """A random loop: some elements are not active, one has a NaN, some take too many turns.

    Where it is ``straight`` there are no loops inside, and no functions that have some.
    """
    rng, number = np.random.default_rng(seed), np.dtype(number)
    kinds = [number, *rng.choice([number, number, INT, BOOL], rng.integers(4)), INT]
    frees = [number, *rng.choice([number, INT], rng.integers(3))]
    written = _Writer(rng, [*kinds, *frees], number, straight)
    rules = {"f": lambda: written.number_(3), "i": lambda: written.count(2), "b": lambda: written.truth(2)}
    news = [cast(rules[np.dtype(kind).kind](), kind) for kind in kinds[:-1]]
    counter = written.locals[len(kinds) - 1]
    endless = rng.random() < 0.2
    test = written.truth(1) if endless else (counter < int(rng.integers(1, 7))) & (written.truth(1) | (counter < 2))
    leaves = [_leaf(rng, kind, elements) for kind in (BOOL, *kinds[:-1], *frees)]
    active = const(True, BOOL) if rng.random() < 0.4 else leaves[0]
    inits = [*leaves[1 : len(kinds)], const(0, INT)]
    found = loop(active, inits, leaves[len(kinds) :], test, [*news, counter + 1], limit=5)
    used = {node for node in topological(found) if node.op == "leaf"}
    return Program([leaf for leaf in leaves if leaf in used], found[: len(kinds) - 1])


def _leaf(rng, kind, elements):
    kind = np.dtype(kind)
    if kind.kind == "b":
        return lazy(rng.random(elements) < 0.8).node
    if kind.kind == "i":
        return lazy(rng.integers(0, 5, elements)).node
    if rng.random() < 0.3:
        return lazy(np.array(rng.normal(), kind)).node
    array = rng.normal(size=elements).astype(kind)
    array[rng.integers(elements)] = np.nan if rng.random() < 0.2 else 1.5
    return lazy(array).node


# What they are worth


@dataclass(frozen=True)
class Dual:
    """A number and its derivative, each of which may be such a pair."""

    value: object
    dot: object
    __array_ufunc__ = None  # numbers of NumPy ask here what to do

    def __add__(self, other):
        return Dual(self.value + number(other), self.dot + dot(other))

    def __rsub__(self, other):
        return -self + other

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        return Dual(self.value * number(other), self.dot * number(other) + self.value * dot(other))

    def __truediv__(self, other):
        ratio = self.value / number(other)
        return Dual(ratio, (self.dot - ratio * dot(other)) / number(other))

    def __rtruediv__(self, other):
        return Dual(other, 0 * other) / self

    def __neg__(self):
        return Dual(-self.value, -self.dot)

    def __abs__(self):
        return -self if plain(self) < 0 else self

    __radd__, __rmul__ = __add__, __mul__


def number(x):
    return x.value if isinstance(x, Dual) else x


def dot(x):
    return x.dot if isinstance(x, Dual) else 0 * x


def plain(x):
    """The number itself."""
    return plain(x.value) if isinstance(x, Dual) else x


FUNCTIONS = {  # with their derivatives
    "exp": (np.exp, lambda x: applied("exp", x)),
    "log": (np.log, lambda x: 1 / x),
    "sqrt": (np.sqrt, lambda x: 0.5 / applied("sqrt", x)),
    "tanh": (np.tanh, lambda x: 1 - applied("tanh", x) * applied("tanh", x)),
    "lgamma": (special.gammaln, lambda x: applied("digamma", x)),
    "digamma": (special.digamma, lambda x: applied("trigamma", x)),
    "trigamma": (lambda x: special.polygamma(1, x), None),
}


def applied(name, x):
    """A function of a number."""
    function, slope = FUNCTIONS[name]
    return Dual(applied(name, x.value), slope(x.value) * x.dot) if isinstance(x, Dual) else type(x)(function(x))


RULES = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": abs, "and": operator.and_, "or": operator.or_, "not": lambda x: not x,
    "lt": lambda x, y: plain(x) < plain(y), "eq": lambda x, y: plain(x) == plain(y),
    "where": lambda test, yes, no: yes if test else no,
}


def worth(node, known):
    """The value of a node for one element, where those of leaves are ``known``."""
    for each in topological((node,)):
        if each not in known:
            known[each] = _worth(each, [known[arg] for arg in each.args])
    return known[node]


def _worth(node, args):
    if node.op == "const":
        return node.dtype.type(node.value)
    if node.op == "cast":
        return args[0] if isinstance(args[0], Dual) else node.dtype.type(args[0])
    if node.op == "loop":
        return _ended(node.attrs[0], *args)[node.attrs[1]]
    return RULES[node.op](*args) if node.op in RULES else applied(node.op, *args)


def _ended(run, active, *given):
    carries, frees, turns = list(given[: len(run.news)]), given[len(run.news) :], 0
    while active:
        here = {leaf: [*carries, *frees][leaf.attrs[0]] for leaf in run.locals}
        if not worth(run.test, here):
            break
        if turns == run.limit:
            return [x * np.nan if new.dtype.kind == "f" else x for x, new in zip(carries, run.news, strict=True)]
        carries = [worth(new, here) for new in run.news]
        turns += 1
    return carries


def compare(found, roots):
    """An error unless values are what the interpreter says."""
    for mine, wanted in zip(found, interpreted(roots), strict=True):
        assert mine.dtype == wanted.dtype
        tolerance = 2e-4 if wanted.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=tolerance)


def judged(found: Program):
    """Values of all results, and first and second derivatives of the first, element by element."""
    arrays = [np.broadcast_to(leaf.attrs[0].array, found.results[0].shape) for leaf in found.leaves]
    smooth = [place for place, leaf in enumerate(found.leaves) if leaf.dtype.kind == "f"]
    shape = found.results[0].shape
    values = [np.zeros(shape, each.dtype) for each in found.results]
    first = np.zeros((len(smooth), *shape))
    second = np.zeros((len(smooth), len(smooth), *shape))
    with np.errstate(all="ignore"):
        for at in np.ndindex(shape):
            given = [array[at] for array in arrays]
            point = dict(zip(found.leaves, given, strict=True))
            for value, result in zip(values, found.results, strict=True):
                value[at] = worth(result, dict(point))
            for i, one in enumerate(smooth):
                for j, other in enumerate(smooth):
                    pairs = {place: _seeded(given[place], place == one, place == other) for place in smooth}
                    seeded = [pairs.get(place, x) for place, x in enumerate(given)]
                    end = worth(found.results[0], dict(zip(found.leaves, seeded, strict=True)))
                    first[i][at], second[i, j][at] = plain(dot(end)), plain(dot(dot(end)))
    return values, first, second


def _seeded(x, first, second):
    """A number with derivatives in two directions."""
    kind = type(x)
    return Dual(Dual(x, kind(second)), Dual(kind(first), kind(0)))
