"""Modules of LLVM IR in units: random functions that call each other give what Python gives, however they are cut."""

import ctypes
import itertools
import re
import threading

import numpy as np
import pytest
from llvmlite import binding, ir

from vecdist.runtime import compiler
from vecdist.runtime.cpu import codegen_units, exported, machine_code
from vecdist.runtime.cpu.codegen_units import Units

I64 = ir.IntType(64)
KIND = ir.FunctionType(I64, [I64])
MANY = 26  # a seed of functions in three units and more
names = itertools.count()


class Drawn:
    """Functions of an integer, each of which adds up what some of those behind it give; the first is for C."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.count = int(rng.integers(2, 9))
        self.padding = [1, *(int(each) for each in rng.integers(1, 60, self.count - 1))]
        self.copied = [number > 0 and rng.random() < 0.3 for number in range(self.count)]
        behind = [np.arange(number + 1, self.count) for number in range(self.count)]
        self.calls = [[int(each) for each in rng.choice(left, min(len(left), 2), False)] for left in behind]
        self.calls[0] = list(range(1, self.count))

    def texts(self, name, known=True):
        """Those of the units of a module, which is told of what the first function alone calls, and what these do."""
        codegen = exported._context().codegen()
        module = codegen.create_library(name).create_ir_module(name)
        functions = [ir.Function(module, KIND, f"{name}.{number}") for number in range(self.count)]
        for number, function in enumerate(functions):
            function.linkage = "internal" if number else "external"
            function.attributes.add("alwaysinline" if self.copied[number] else "noinline")
            builder = ir.IRBuilder(function.append_basic_block("entry"))
            total = function.args[0]
            for each in range(self.padding[number]):
                total = builder.xor(builder.mul(total, I64(3)), I64(each))
            for other in self.calls[number]:
                total = builder.add(total, builder.call(functions[other], [builder.add(total, I64(other))]))
            builder.ret(total)
        found = []
        units = Units(module, found.append)
        for number in range(1, self.count):
            if self.callers(number) <= {0}:
                units.own([functions[each] for each in self.inside(number)], functions if known else [])
        units.rest()
        return found

    def callers(self, number):
        return {each for each in range(self.count) if number in self.calls[each]}

    def inside(self, number):
        found = [number]
        for each in range(number + 1, self.count):
            found += [each] * (self.callers(each) <= set(found))
        return found

    def value(self, x, number=0):
        for each in range(self.padding[number]):
            x = (x * 3) ^ each
        for called in self.calls[number]:
            x += self.value(x + called, called)
        return x


def compiled(texts):
    """The objects of modules."""
    with compiler.alone(), machine_code.Making(exported._context().codegen(), True) as making:
        for each in texts:
            making.take(each, [])
        return making.made()


def function_of(texts, symbol):
    """A function of machine code."""
    engine = exported._context().codegen()._engine._ee
    with compiler.alone():
        for each in compiled(texts):
            engine.add_object_file(binding.ObjectFileRef.from_data(each))
        engine.finalize_object()
        return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address(symbol))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("least", [1, 40, 80, 10**9])
def test_random_functions(least, known, monkeypatch):
    """Also where all that functions call is in each unit that calls it."""
    monkeypatch.setattr(codegen_units, "LEAST", least)
    cut = 0
    for seed in range(20):
        drawn, name = Drawn(seed), f"drawn_{next(names)}"
        texts = drawn.texts(name, known)
        function = function_of(texts, f"{name}.0")
        cut += len(texts) > 1
        for x in (0, 1, -7, 12345):
            assert function(x) == ctypes.c_int64(drawn.value(x)).value
    assert cut == 0 if least == 10**9 else cut > 10


@pytest.mark.parametrize("seed", range(10))
def test_a_function_has_one_body_unless_it_is_copied(seed, monkeypatch):
    monkeypatch.setattr(codegen_units, "LEAST", 40)
    drawn = Drawn(seed)
    texts = drawn.texts("bodies")
    for number, copied in enumerate(drawn.copied):
        found = sum(bool(re.search(rf'define \w+ i64 @"bodies.{number}"', text)) for text in texts)
        assert found == 1 or copied


def test_what_a_function_alone_calls_is_beside_it_and_known_nowhere_else(monkeypatch):
    monkeypatch.setattr(codegen_units, "LEAST", 1)
    drawn = Drawn(0)
    drawn.count, drawn.padding, drawn.copied, drawn.calls = 3, [1, 1, 900], [False] * 3, [[1], [2], []]
    nest, whole = drawn.texts("alone")
    assert 'define internal i64 @"alone.2"' in nest
    assert "alone.2" not in whole
    assert 'define external i64 @"alone.1"' in nest
    assert 'declare i64 @"alone.1"' in whole


def test_machine_code_is_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(codegen_units, "LEAST", 40)
    found = set()
    for count in (1, 2, 5):
        monkeypatch.setattr(machine_code, "thread_count", lambda count=count: count)
        found.add(tuple(compiled(Drawn(MANY).texts("any_number"))))
    assert len(found) == 1
    assert len(*found) > 2


def test_what_is_no_module_is_told():
    with pytest.raises(RuntimeError, match="parsing error"):
        compiled(["no module"])


def test_what_fails_between_units_is_told_and_leaves_no_thread():
    before, text = threading.active_count(), Drawn(MANY).texts("failing")[0]

    def fail():
        with compiler.alone(), machine_code.Making(exported._context().codegen(), True) as making:
            making.take(text, [])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert threading.active_count() == before
