"""Structured programs at random, as text: branches, loops that are left, early returns, helpers, tuples.

Every value stays within a few units, and every loop ends, whatever the numbers are.
"""

import linecache
import math
import random

TABLE = (0.5, -1.25, 2.0, 0.75)
HELPERS = """
def bend(u, k=2, *, shift=0.25):
    if u > 1.0:
        return math.sqrt(u) - shift
    total = 0.0
    for t in range(k):
        total += math.sin(u + t) / (t + 1)
    return total

def settle(u, v):
    turns = 0
    while abs(u) > 0.4:
        u = 0.5 * math.sin(u) + 0.05 * v
        turns += 1
        if turns > 9:
            return u - v, turns
    return u, turns
"""


class Writer:
    """A program in the making."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.floats = ["x", "y", "a"]
        self.whole = ["n", "i"]
        self.counters = 0
        self.size = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return str(round(self.random.uniform(-1.5, 1.5), 2))

    def atom(self):
        return self.pick(self.random.choice(self.floats), self.random.choice(self.floats), self.number())

    def integer(self):
        i, j = self.random.choice(self.whole), self.random.choice(self.whole)
        known = f"{self.random.randint(2, 6)}"
        return self.pick(
            i, f"({i} + {known}) % 7", f"({i} * {j}) % {known}", f"{i} // {known}",
            f"int(3 * math.tanh({self.atom()}))", f"abs({i} - {j}) % 9", f"math.floor(2.5 * math.sin({self.atom()}))",
            f"(-1) ** ({i} % 5)",
            f"round(4 * math.cos({self.atom()}))", f"min({i}, {known})", f"-{i} % {known}",
        )

    def bounded(self, depth=1):
        """An expression of a few units at most."""
        u, v = (self.bounded(depth - 1) if depth else self.atom() for _ in range(2))
        return self.pick(
            f"math.sin({u} + {v})", f"math.cos({u} * {self.number()})", f"0.4 * {u} - 0.3 * {v}",
            f"math.tanh({u} * {v})", f"math.exp(-({u}) ** 2)", f"math.log1p(({u}) ** 2)",
            f"({u}) / (1.5 + ({v}) ** 2)", f"min({u}, {v})", f"max({u}, {self.number()})", f"abs({u})",
            f"({u} if {self.condition(0)} else {v})", f"math.atan({u}) + 0.125 * ({self.integer()})",
            f"TABLE[({self.integer()}) % 4] * math.sin({u})", f"bend({u})", f"bend({v}, k=3)",
            f"bend(shift=0.5, u={u})", f"settle({u}, {v})[0]", f"({u}) % 1.75",
            f"(lambda q, r={u}: 0.5 * q - math.sin(r))({v})",
            f"math.sin({u}) ** {self.random.randint(1, 4)}",
        )

    def condition(self, depth=1):
        u, v = self.atom(), self.atom()
        whole = f"{self.integer()} > {self.random.randint(0, 3)}"
        tests = [f"{u} < {v}", whole, f"-0.5 < {u} <= {v}", f"not {u} > 0.3"]
        if depth:
            one, other = self.condition(0), self.condition(0)
            tests += [f"({one}) and ({other})", f"({one}) or ({other})", f"{self.integer()} in (1, 2, 5)"]
        return self.random.choice(tests)

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def block(self, depth, inside, most=3):
        """Statements; ``inside`` is whether a loop is around them."""
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, inside)
            self.size += 1

    def statement(self, depth, inside):
        room = depth < 4 and self.size < 25
        kinds = ["float"] * 4 + ["whole", "several"] + (["if"] * 4 + ["for", "while", "count", "each"] if room else [])
        kinds += ["leave"] * 2 if inside else []
        kinds += ["return"] if depth > 1 else []
        getattr(self, f"write_{self.random.choice(kinds)}")(depth, inside)

    def write_float(self, depth, inside):
        target = self.pick("x", "y", "a")
        op, value = self.pick(("=", self.bounded()), ("=", self.bounded(2)), ("-=", f"0.25 * {self.bounded(0)}"))
        self.line(depth, f"{target} {op} {value}")

    def write_whole(self, depth, inside):
        self.line(depth, f"i = {self.integer()}")

    def write_several(self, depth, inside):
        self.line(depth, self.pick(f"x, y = y, {self.bounded()}", f"a, i = settle({self.atom()}, {self.atom()})"))

    def write_if(self, depth, inside):
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, inside)
        if self.random.random() < 0.4:
            self.line(depth, f"elif {self.condition()}:")
            self.block(depth + 1, inside, 2)
        if self.random.random() < 0.6:
            self.line(depth, "else:")
            self.block(depth + 1, inside, 2)

    def loop(self, depth, head, first=()):
        self.line(depth, head)
        for text in first:
            self.line(depth + 1, text)
        self.block(depth + 1, True)
        if self.random.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, False, 1)

    def fresh(self):
        self.counters += 1
        return f"k{self.counters}"

    def write_for(self, depth, inside):
        self.loop(depth, f"for {self.fresh()} in range({self.pick('n', 'i % 5', '1, n + 1', 'n, 0, -2')}):")

    def write_count(self, depth, inside):
        name = self.fresh()
        self.loop(depth, f"for {name} in range({self.pick(2, 3, 40)}):", [f"x = math.sin(x + 0.25 * {name})"])

    def write_each(self, depth, inside):
        place, value = self.fresh(), self.fresh()
        self.loop(depth, f"for {place}, {value} in enumerate(TABLE):", [f"a = math.cos(a * {value} - {place})"])

    def write_while(self, depth, inside):
        name = self.fresh()
        self.line(depth, f"{name} = 0")
        test = self.pick("True", f"{name} < 4", f"{name} < n and {self.condition(0)}", self.condition())
        self.loop(depth, f"while {test}:", [f"{name} += 1", f"if {name} > {self.random.randint(3, 8)}:", "    break"])

    def write_leave(self, depth, inside):
        self.line(depth, f"if {self.condition(0)}:")
        self.line(depth + 1, self.pick("break", "continue", f"return a, {self.bounded()}, i"))

    def write_return(self, depth, inside):
        self.line(depth, f"return {self.bounded()}, x - y, {self.integer()}")

    def text(self):
        self.line(0, "def program(x, y, n):")
        self.line(1, "a, i = 0, 1")
        self.block(1, False, 6)
        self.line(1, f"return {self.bounded()}, a, i")
        return HELPERS + "\n" + "\n".join(self.lines) + "\n"


def made(text, name, maths=math):
    """The function ``program`` of a text, whose source is to be had."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"math": maths, "TABLE": TABLE, "__name__": name}
    exec(compile(text, name, "exec"), scope)
    return scope["program"]
