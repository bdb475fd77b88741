"""Generated source as machine code does what it says to Python: random programs in its words, and what it refuses."""

import ast
import random

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from uncompiled import import_source

from vecdist.codegen.frontend import definition
from vecdist.kernel.code import INDENT, Function, If, Return, Set
from vecdist.kernel.expressions import Constant, Name, names, operation, substituted
from vecdist.runtime import compiler, outlining, sources
from vecdist.runtime.cpu import exported
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu.packing import Packed
from vecdist.runtime.typed import Exports, Written

HEAD = f"from {cpu_language.__name__} import *\nimport math\n"
EIGHTH = "{0} - 8.0 * math.floor({0} / 8.0)"  # of a whole number: as small, so that products and sums are exact


class Programs:
    """Random programs over whole numbers, as floats and integers, of every word of generated source."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def new(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def real(self, known, depth=2):
        """An expression that is a float, of names that are."""
        pick = self.random.choice
        if depth == 0:
            return pick([*known, "1.0", "2.0", "-3.0"])
        first, second = (self.real(known, depth - 1) for _ in range(2))
        return pick([
            f"({first} + {second})", f"({first} - {second})", f"({first} * {second})", f"-{first}", f"abs({first})",
            f"({first} if {self.test(known, depth - 1)} else {second})", f"f8(n + {self.random.randrange(4)})",
            f"select({self.test(known, 0)}, {first}, {second})", f"twice({first}, {second})", f"max({first}, {second})",
        ])  # fmt: skip

    def test(self, known, depth=1):
        first, second, third = (self.real(known, 0) for _ in range(3))
        simple = f"{first} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {second}"
        if depth == 0:
            return f"({simple})"
        other = self.test(known, depth - 1)
        return self.random.choice([
            f"({simple} and {other})", f"({simple} or {other})", f"(not {other})", f"({first} <= {second} < {third})",
            f"(n % {self.random.randrange(2, 5)} == {self.random.randrange(2)})", f"(({simple}) & {other})",
        ])  # fmt: skip

    def block(self, known, depth):
        for _ in range(self.random.randrange(1, 4)):
            yield from self.statement(known, depth)

    def statement(self, known, depth):
        target = self.random.choice(known)
        kind = self.random.choice(["assign", "assign", "two", "augment", *(["if", "for", "while"] * (depth > 0))])
        if kind == "assign":
            yield f"{target} = {self.real(known)}"
        elif kind == "two":
            other = self.random.choice(known)
            yield f"{target}, {other} = {self.real(known, 1)}, {self.real(known, 1)}"
            target = other
        elif kind == "augment":
            yield f"{target} {self.random.choice(['+=', '-=', '*='])} {self.real(known, 1)}"
        elif kind == "if":
            yield f"if {self.test(known)}:"
            yield from (INDENT + line for line in self.block(known, depth - 1))
            if self.random.random() < 0.6:
                yield "else:"
                yield from (INDENT + line for line in self.block(known, depth - 1))
        elif kind == "for":
            index, low, high = self.new("i"), self.random.randrange(3), self.random.randrange(2, 6)
            span = self.random.choice([f"{high}", "n", f"{low}, n", f"{high}, {low}, -1", f"{low}, n, {low + 1}"])
            yield f"for {index} in range({span}):"
            yield from (INDENT + line for line in self.block(known, depth - 1))
            yield f"{INDENT}{target} = {target} + f8({index} * {index} // 2)"
        else:
            count = self.new("k")
            yield f"{count} = {self.random.choice(['0', 'n', 'n // 2'])}"
            yield f"while {count} < {self.random.randrange(3, 7)}:"
            yield from (INDENT + line for line in self.block(known, depth - 1))
            yield f"{INDENT}{count} = {count} + {self.random.randrange(1, 3)}"
        yield f"{target} = {EIGHTH.format(target)}"

    def function(self, name):
        known = ["a", "b", *(self.new("v") for _ in range(3))]
        yield f"@compiled\ndef {name}(a, b, n, out, place):"
        yield from (f"{INDENT}{each} = {self.real(['a', 'b'], 1)}" for each in known[2:])
        yield from (INDENT + line for line in self.block(known, 3))
        yield f"{INDENT}out[place] = {' + '.join(EIGHTH.format(each) for each in known)}"
        yield f"{INDENT}return"

    def module(self, count):
        """Functions, and one that calls them all in turn."""
        yield f"{HEAD}\n@merged\ndef twice(x, y):\n    z = x + x if x < y else y + x\n    return z - y\n"
        for number in range(count):
            yield "\n".join(self.function(f"program{number}")) + "\n"
        calls = "".join(f"    program{number}(a, b, n, out, {number})\n" for number in range(count))
        yield f"@compiled\ndef every(a, b, n, out):\n{calls}    return\n"


def make_compiled(function, names):
    return cpu_language.compiled(Written(function, names))


def imported(name, text):
    """The module of a text, whose functions are compiled, or merged, as it says."""
    found = [item for item in ast.parse(text).body if isinstance(item, ast.FunctionDef)]
    merged = {item.name for item in found if ast.unparse(item.decorator_list[0]) == "merged"}

    def make(function, names):
        return Written(function, names, merged=True) if function.name in merged else make_compiled(function, names)

    return sources.imported(name, text, [definition(item) for item in found], cpu_language.WORDS, make)


def exported_alone(symbol, function, signature):
    """A function as C calls it, which is all that its module exports."""
    exports = Exports({symbol: (function.written, signature)}, function.written.names)
    with compiler.alone():
        (address,) = exported.addresses(exports, compiler.CodeCache(symbol, cpu_language.VERSION))
    return Packed(address, signature)


@pytest.mark.parametrize(("seed", "longest"), [(0, outlining.LONGEST), (1, outlining.LONGEST), (2, 3)])
def test_random_programs_do_what_python_does(seed, longest, monkeypatch):
    """Also where nearly every statement is in a function of its own, with what others need of it in memory.

    One is called by Numba, and one by C, with words.
    """
    monkeypatch.setattr(outlining, "LONGEST", longest)
    text, count = "\n".join(Programs(seed).module(40)), 40
    compiled = imported(f"random_programs_{seed}", text).every
    spoken = import_source("spoken", text, [], {}, None).every
    signature = (numba.float64, numba.float64, numba.int64, numba.float64[::1])
    compiled.compile(signature)
    spoken.compile(signature)
    for_c = exported_alone(f"random_{seed}_{longest}", imported(f"random_programs_{seed}", text).every, signature)
    for a, b, n in [(1.0, 2.0, 3), (-2.0, 5.0, 0), (7.0, -1.0, 4), (0.0, 0.0, 1), (3.0, 3.0, 7)]:
        wanted, *results = [np.full(count, np.nan) for _ in range(3)]
        for run, out in zip((spoken, compiled, for_c), (wanted, *results), strict=True):
            run(a, b, n, out)
        assert not np.isnan(wanted).any()
        for found in results:
            np.testing.assert_array_equal(found, wanted, err_msg=f"{text}\n{a, b, n}")


def test_several_results_are_left_to_other_parts(monkeypatch):
    """In as many words as they are."""
    monkeypatch.setattr(outlining, "LONGEST", 3)
    three = "@merged\ndef three(x, y):\n    z = x + y\n    return (z, x - y, z * y)\n"
    calls = ["p = three(x, 2.0)", "q = three(x, 5.0)", *(f"v{n} = x + {n}.0" for n in range(9)), "r = three(q[1], v3)"]
    stores = (f"out[{3 * n + k}] = {name}[{k}]" for n, name in enumerate("pqr") for k in range(3))
    text = source(*calls, *stores, "out[9] = v0 + v8").replace("@compiled", f"{three}\n\n@compiled")
    found = imported("several_results", text).f
    found.compile((numba.float64, numba.float64[::1]))
    out = np.zeros(10)
    found(7.0, out)
    assert out.tolist() == [9.0, 5.0, 18.0, 12.0, 2.0, 60.0, 12.0, -8.0, 120.0, 22.0]


def source(*lines):
    return HEAD + "\n@compiled\ndef f(x, out):\n" + "".join(f"    {line}\n" for line in lines) + "    return\n"


@pytest.mark.parametrize(("lines", "what"), [
    (["with x:", "    pass"], "no With"),
    (["out[0] = [x][0]"], "no List"),
    (["y = 1.0", "y = (x, x)", "out[0] = x"], "y is"),
    (["out[0] = x.length"], "no type"),
])  # fmt: skip
def test_what_is_no_generated_source_is_refused(lines, what):
    with pytest.raises((SyntaxError, TypeError, numba.TypingError), match=what):
        imported("refused_" + what.replace(" ", "_"), source(*lines)).f.compile((numba.float64, numba.float64[::1]))


def test_sums_of_many_terms_are_not_deep():
    """A thousand terms, tests and additions to one element, which is read and stored to by one expression."""
    total, holds, element = Name("x"), Name("x") < 2000, Name("out")[0]
    for number in range(1000):
        total, holds = total + float(number), operation("and", holds, Name("x") < 2000 + number)
    items = (Set(element, total), If(holds, (Set(element, element + 0.5),)), Return())
    function = Function("f", ("x", "out"), items)
    module = sources.imported("many_terms", str(function), [function], cpu_language.WORDS, make_compiled)
    module.f.compile((numba.float64, numba.float64[::1]))
    out = np.zeros(1)
    module.f(2.0, out)
    assert out[0] == 999 * 500 + 2.5
    assert [*names(total)] == ["x"] and str(substituted(total, {"x": Constant(3.0)})).startswith("3.0 + 0.0 + 1.0")


def test_arrays_of_a_function_are_let_go_of():
    """What a kernel makes to work in is freed: as many bytes are allocated after a thousand calls as before."""
    module = imported("makes_arrays", source("y = empty(1000, f8)", "y[3] = x", "out[0] = y[3]"))
    signature = numba.float64, numba.float64[::1]
    module.f.compile(signature)
    out = np.zeros(1)
    _nrt_python.memsys_enable_stats()
    for function in (module.f, exported_alone("makes_arrays", module.f, signature)):
        out[0], before = 0.0, rtsys.get_allocation_stats()
        for _ in range(100):
            function(2.0, out)
        after = rtsys.get_allocation_stats()
        assert after.alloc - before.alloc == after.free - before.free >= 100 and out[0] == 2.0


QUOTIENTS = """
def quotients(x, y, found):
    for place in range(x.size):
        found[place] = x[place] // y[place]
"""


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u8"])
def test_quotients_of_integers(kind):
    """Rounded down, and 0 where there is none: of extremes, of zeros, of all signs and widths."""
    names = cpu_language.WORDS | {"__name__": __name__}
    quotients = cpu_language.compiled(Written(definition(ast.parse(QUOTIENTS).body[0]), names))
    rng, ends = np.random.default_rng(3), np.iinfo(kind)
    small = [-7, -2, -1, 0, 1, 2, 7] if ends.min else [0, 1, 2, 7]
    edges = np.array([ends.min, ends.min + 1, *small, ends.max], kind)
    more = rng.integers(ends.min, ends.max, 200, kind, endpoint=True)
    x, y = (each.reshape(-1) for each in np.meshgrid(np.append(edges, more), np.append(edges, more[:20])))
    wanted = [a // b if b and -(2**63) <= a // b < 2**64 - 2**63 * (kind[0] == "i") else 0
              for a, b in zip(x.tolist(), y.tolist(), strict=True)]  # fmt: skip
    found = np.empty_like(x)
    quotients(x, y, found)
    assert np.array_equal(found, np.array(wanted, "u8" if kind == "u8" else "i8").astype(kind))
