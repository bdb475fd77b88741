"""Nodes: interned, typed, promoted as NumPy does, and walked in order."""

import copy
import gc
import itertools
import math
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreting import by_interpreter
from reference import slot

from vecdist import hessian, logpdf
from vecdist.constraints import positive, real
from vecdist.distributions import Distribution, parametrisation
from vecdist.graph.node import Node, _Interned, cast, const, elementwise, rewrite, topological, where
from vecdist.lazy.ufuncs import apply
from vecdist.primitives.elementary import log
from vecdist.runtime.interpreter import interpret

X = slot(0, ("n",))
Y = slot(1, ("m", 1), np.float32)
NUMBERS = (np.bool_, np.int8, np.int32, np.int64, np.float32, np.float64)


def test_equal_nodes_are_one_object():
    assert (X + 1.0) * X is (X + 1.0) * X
    assert X + 1.0 is not 1.0 + X
    assert slot(0, ("n",)) is not slot(0, ("m",))
    assert slot(0, ("n",)) is not slot(0, ("n",), np.float32)


def test_copies_are_the_same_object():
    node = where(X < 0, -X, X * const(-0.0)) / Y
    assert pickle.loads(pickle.dumps(node)) is node
    assert copy.deepcopy(node) is node


def test_nodes_are_forgotten_with_their_last_user():
    nodes = [X * (number + 0.123) for number in range(100)]
    kept = [weakref.ref(node) for node in nodes]
    constants = {node.args[1].attrs for node in nodes}
    del nodes
    gc.collect()
    assert not any(node() for node in kept)
    assert not constants & {attrs for op, _, attrs, *_ in list(_Interned.every) if op == "const"}


def test_threads_share_nodes():
    found = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda made=made: made.extend(X + 0.25 * number for number in range(500)))
        for made in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len({id(node) for node in same}) == 1 for same in zip(*found, strict=True))


def test_zeros_of_both_signs_are_two_constants():
    assert const(0.0) is not const(-0.0)
    assert math.copysign(1, const(-0.0).value) == -1
    assert const(0) is const(0.0)


def test_constants_keep_their_bits():
    assert const(math.nan) is const(math.nan) and math.isnan(const(math.nan).value)
    assert const(math.inf).value == math.inf
    assert const(0.1).value == 0.1
    assert const(2**62 + 1, np.int64).value == 2**62 + 1
    assert const(1, np.bool_).value is True


@given(st.floats())
def test_every_float_is_its_constant(value):
    assert np.float64(const(value).value).tobytes() == np.float64(value).tobytes() or math.isnan(value)


def test_is_const():
    assert const(1.0).is_const() and const(1.0).is_const(0, 1) and not const(2.0).is_const(0, 1)
    assert not X.is_const() and not const(math.nan).is_const(math.nan)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, NUMBERS)))
def test_dtypes_promote_as_in_numpy(a, b):
    x, y = slot(0, (), a), slot(1, (), b)
    assert (x * y).dtype == (np.ones(1, a) * np.ones(1, b)).dtype
    assert (x / y).dtype == np.result_type(a, b, np.float32)
    assert (x < y).dtype == np.bool_
    assert all(arg.dtype == (x * y).dtype for arg in (x * y).args)


@pytest.mark.parametrize("dtype", NUMBERS[1:])
def test_python_numbers_take_the_dtype_beside_them(dtype):
    x = slot(0, ("n",), dtype)
    assert (x + 1).dtype == dtype == (2 - x).dtype
    assert (x + 0.5).dtype == (np.ones(1, dtype) + 0.5).dtype
    assert where(x < 1, x, 0).dtype == dtype


def test_a_quotient_of_integers_is_a_float():
    assert (slot(0, (), np.int64) / 2).dtype == np.float64


def test_shapes_broadcast():
    assert (X + Y).shape == ("m", "n")
    assert where(Y < 0, 1.0, X).shape == ("m", "n")
    with pytest.raises(ValueError, match="lengths n and m do not broadcast"):
        X + slot(1, ("m",))


def test_casts():
    assert cast(X, np.float64) is X
    assert cast(X, np.float32).dtype == np.float32 and cast(X, np.float32).shape == X.shape
    assert cast(const(2.5), np.int32).value == 2


def test_a_node_has_no_truth():
    with pytest.raises(TypeError, match="where"):
        bool(X < 0)


def test_a_node_prints_itself():
    assert repr(elementwise("add", slot(3), 2.5)) == "add(slot(; 3; number; ()), 2.5)"


def test_topological_order_has_each_node_once_after_its_arguments():
    shared = X * 2.0
    roots = (shared + shared, shared * X, shared + shared)
    order = list(topological(roots))
    assert len(order) == len(set(order)) and {*roots, shared, X} <= set(order)
    assert all(order.index(arg) < order.index(node) for node in order for arg in node.args)


def test_deep_graphs_need_no_deep_stack():
    node = X
    for _ in range(20_000):
        node = node + 1.0
    assert sum(1 for _ in topological((node,))) == 20_002
    (same,) = rewrite((node,), lambda n, args: n)
    assert same is node


def test_rewrite_visits_each_node_once_with_the_new_arguments():
    shared = X * 2.0
    visits = []

    def rule(node, args):
        visits.append(node)
        if node is X:
            return slot(5, ("n",))
        return Node(node.op, args, node.attrs, node.shape, node.dtype) if args else node

    first, second = rewrite((shared + shared, shared), rule)
    new = slot(5, ("n",)) * 2.0
    assert first is new + new and second is new
    assert len(visits) == len(set(visits)) == 4


HERE = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 7.25])
OPERATORS = [
    *(lambda x, n=n: x**n for n in (0, 1, 2, 3, 4, 5, -1, -2, 0.5, 2.0, 2.5, True)),
    lambda x: (x - 1.0) ** 2, lambda x: 2**x, lambda x: 2.0**x, lambda x: x**x,
    lambda x: x // 2, lambda x: x % 2, lambda x: 7 // (x + 0.25), lambda x: 7 % (x + 0.25),
    lambda x: divmod(x, 0.75)[0], lambda x: divmod(x, 0.75)[1], lambda x: +x, lambda x: -x, abs,
    lambda x: sum([x, x]), lambda x: 1 < x,
    lambda x: 1 >= x, lambda x: True & (x > 1), lambda x: False | (x > 1), lambda x: (0 < x) & (x < 2),
    lambda x: ~(x > 1),
    lambda x: 2.0 * x - 1, lambda x: (x > 1) * 2.0, lambda x: 1 / (x + 1) - 1 + 2 * x,
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("operation", OPERATORS)
def test_operators_of_formulas_are_those_of_arrays(operation, dtype):
    x = slot(0, ("n",), dtype)
    with np.errstate(divide="ignore"):
        wanted = np.asarray(operation(HERE.astype(dtype)))
    found = operation(x)
    (value,) = interpret([found], [HERE.astype(dtype)], {"n": len(HERE)})
    assert found.dtype == value.dtype == wanted.dtype
    np.testing.assert_allclose(value, wanted, rtol=8 * np.finfo(dtype).eps)


def test_small_powers_of_formulas_are_those_of_lazy_arrays():
    """What has fewer roundings than a power, and its derivatives at 0, is one rule for both."""
    for exponent in (0.5, 1, 2, 3, 4, -1, 2.5, np.float64(2)):
        assert (X**exponent).op == apply(np.power, X, float(exponent)).op


class Gaussian(Distribution):
    """A normal distribution as a user writes it."""

    @parametrisation(loc=real, scale=positive)
    @staticmethod
    def by_scale(loc, scale):
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p):
        return real

    @staticmethod
    def log_density(x, p):
        return -((x - p.loc) ** 2) / (2 * p.scale**2.0) - log(p.scale) - 0.5 * math.log(2 * math.pi)


def test_a_family_says_its_squares_as_squares():
    """With both derivatives where the square is 0."""
    loc, scale = np.array(1.0), np.array(2.0)
    with by_interpreter():
        lp = logpdf(Gaussian(loc, scale), 1.0)
        assert math.isclose(float(lp), -math.log(2.0) - 0.5 * math.log(2 * math.pi))
        assert hessian(lp, wrt=(loc, scale)) == ((-0.25, 0.0), (0.0, 0.25))


@pytest.mark.parametrize(("operation", "message"), [
    (lambda x: 0 < x < 2, r"use where\(\) to choose, and \(a < b\) & \(b < c\)"),
    (lambda x: max(x, 0.0), "use where"), (math.log, "functions of vecdist.primitives"), (float, "not those of math"),
    (lambda x: where(x == 0.0, 1.0, x), r"a condition as a node, given False.*eq\(a, b\)"),
    (lambda x: where(x != 0.0, 1.0, x), r"given True.*ne\(a, b\)"),
])
def test_what_formulas_cannot_say_is_refused_with_what_can_be(operation, message):
    with pytest.raises(TypeError, match=message):
        operation(X)
